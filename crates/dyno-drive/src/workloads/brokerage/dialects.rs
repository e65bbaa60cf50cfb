//! Parts of statements that differ from PostgreSQL's in other dialects.

use std::borrow::Cow;

use crate::wire::{Dialect, Statement, Type};

const LOCK: &str = " for update";
const SUM: &str = "sum(";

/// Replaces the parts that differ in a dialect. SQLite has no FOR UPDATE and needs none: its single
/// writer locks the whole file.
pub fn put(dialect: Dialect, mut statements: Vec<Statement>) -> Vec<Statement> {
    if dialect == Dialect::Sqlite {
        for statement in &mut statements {
            if let Some(unlocked) = statement.sql.strip_suffix(LOCK) {
                statement.sql = Cow::Owned(unlocked.to_owned());
            }
        }
    }
    if dialect == Dialect::Mysql {
        for statement in &mut statements {
            if let Some(joined) = joined(&statement.sql) {
                statement.sql = Cow::Owned(joined);
            }
        }
    }
    if dialect == Dialect::Mssql {
        for statement in &mut statements {
            let scale = statement.returns.iter().find_map(|kind| match kind {
                Type::Decimal(scale) => Some(*scale),
                _ => None,
            });
            if let Some(scale) = scale.filter(|_| statement.sql.contains(SUM)) {
                statement.sql = Cow::Owned(with_sums(&statement.sql, scale));
            }
        }
    }
    statements
}

/// `update t set … where k in (select c from u …)` as `update t join u on c = k set …`: before version
/// 11.1, MariaDB evaluates the subquery for each row of the table, and locks all of them. `None` if a
/// statement is anything else.
fn joined(sql: &str) -> Option<String> {
    let (change, query) = sql.strip_suffix(')')?.split_once(" in (select ")?;
    let (table, rest) = change.strip_prefix("update ")?.split_once(" set ")?;
    let (assignments, key) = rest.rsplit_once(" where ")?;
    let (column, from) = query.split_once(" from ")?;
    let (other, condition) = from.split_once(' ').unwrap_or((from, ""));
    let text =
        format!("update {table} join {other} on {column} = {key} set {assignments} {condition}");
    Some(text.trim_end().to_owned())
}

/// States the type of each sum: Babelfish cannot derive that of a product.
fn with_sums(sql: &str, scale: u8) -> String {
    const OR_ZERO: (&str, &str) = ("coalesce(", ", 0)");
    let kind = format!(" as decimal(38,{scale}))");
    let mut text = String::with_capacity(sql.len() * 2);
    let mut rest = sql;
    while let Some(start) = rest.find(SUM) {
        // Sums have no parentheses inside.
        let end = rest[start..].find(')').map_or(rest.len(), |end| start + end + 1);
        let zero = rest[..start].ends_with(OR_ZERO.0) && rest[end..].starts_with(OR_ZERO.1);
        let (start, end) =
            if zero { (start - OR_ZERO.0.len(), end + OR_ZERO.1.len()) } else { (start, end) };
        text.push_str(&rest[..start]);
        text.push_str("cast(");
        text.push_str(&rest[start..end]);
        text.push_str(&kind);
        rest = &rest[end..];
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{mssql, mysql};
    use crate::workloads::brokerage::statements;

    #[test]
    fn mysql_takes_every_statement_with_all_its_parameters() {
        for statement in put(Dialect::Mysql, statements::all()) {
            let commands = mysql::commands(&statement).unwrap();
            assert!(commands.iter().all(|command| !command.sql.contains('$')), "{statement:?}");
            let used = commands.iter().flat_map(|command| &command.params);
            let most = used.max().map_or(0, |position| usize::from(*position) + 1);
            assert_eq!(most, statement.params.len(), "{}", statement.name);
        }
    }

    #[test]
    fn mysql_changes_rows_by_key() {
        let changes: Vec<_> = put(Dialect::Mysql, statements::all())
            .into_iter()
            .filter(|statement| statement.sql.starts_with("update "))
            .collect();
        assert!(changes.iter().all(|statement| !statement.sql.contains(" in (select ")));
        let sql = |name| &changes.iter().find(|statement| statement.name == name).unwrap().sql;
        assert_eq!(
            sql("maintain_news_item"),
            "update news_item join news_xref on nx_ni_id = ni_id set ni_dts = $1 \
             where nx_co_id = $2"
        );
        assert_eq!(
            sql("cancel_requested"),
            "update trade join trade_request on tr_t_id = t_id set t_st_id = 'CNCL', \
             t_dts = case when t_dts > $1 then t_dts else $1 end"
        );
    }

    #[test]
    fn mssql_takes_every_statement_with_all_its_parameters() {
        for statement in put(Dialect::Mssql, statements::all()) {
            let mssql::Command::Text(sql) = mssql::command(&statement, false).unwrap() else {
                panic!("{statement:?}")
            };
            for foreign in ["$", "||", " returning ", " limit ", " for update", "substr("] {
                assert!(!sql.contains(foreign), "{sql}");
            }
            let count = statement.params.len();
            assert!(count == 0 || sql.contains(&format!("@p{count}")), "{sql}");
        }
    }

    #[test]
    fn mssql_sums_have_a_type() {
        assert_eq!(
            with_sums("select sum(a * b), coalesce(sum(c), 0) from t", 2),
            "select cast(sum(a * b) as decimal(38,2)), \
             cast(coalesce(sum(c), 0) as decimal(38,2)) from t"
        );
    }

    #[test]
    fn sqlite_locks_no_rows() {
        let locks = |dialect| {
            let statements = put(dialect, statements::all());
            statements.iter().filter(|statement| statement.sql.contains(LOCK)).count()
        };
        assert_eq!((locks(Dialect::Postgres), locks(Dialect::Sqlite)), (2, 0));
    }
}
