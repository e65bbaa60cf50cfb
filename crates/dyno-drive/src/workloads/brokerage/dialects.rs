//! Parts of statements that differ from PostgreSQL's in other dialects.

use std::borrow::Cow;

use crate::wire::{Dialect, Statement};

const LOCK: &str = " for update";

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
    statements
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
    fn sqlite_locks_no_rows() {
        let locks = |dialect| {
            let statements = put(dialect, statements::all());
            statements.iter().filter(|statement| statement.sql.contains(LOCK)).count()
        };
        assert_eq!((locks(Dialect::Postgres), locks(Dialect::Sqlite)), (2, 0));
    }
}
