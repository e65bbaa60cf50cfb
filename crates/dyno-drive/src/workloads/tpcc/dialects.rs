//! Statements that differ from PostgreSQL's in other dialects, by name.

use std::borrow::Cow;

use crate::wire::{AND_THEN, Dialect, Statement};

/// MariaDB and MySQL: `||` is a logical or. MariaDB's DELETE can return rows, but describes them
/// only when it runs. The query locks the row, so the DELETE removes the row that the query found; if the query
/// found none, Delivery checks that the DELETE did not either.
const MYSQL: &[(&str, &[&str])] = &[
    (
        "take_oldest",
        &[
            "select no_o_id from new_order where no_w_id = $1 and no_d_id = $2 \
             order by no_o_id limit 1 for update",
            "delete from new_order where no_w_id = $1 and no_d_id = $2 order by no_o_id limit 1",
        ],
    ),
    (
        "pay_bad_credit",
        &[
            "update customer set c_balance = c_balance - $1, c_ytd_payment = c_ytd_payment + $1, \
             c_payment_cnt = c_payment_cnt + 1, c_data = left(concat($5, c_data), 500) \
             where c_w_id = $2 and c_d_id = $3 and c_id = $4",
            "select c_balance, left(c_data, 200) from customer \
             where c_w_id = $2 and c_d_id = $3 and c_id = $4",
        ],
    ),
];

/// SQLite has no LEFT. It has no FOR UPDATE and needs none: its single writer locks the whole file.
const SQLITE: &[(&str, &[&str])] = &[
    (
        "pay_bad_credit",
        &["update customer set c_balance = c_balance - $1, c_ytd_payment = c_ytd_payment + $1, \
           c_payment_cnt = c_payment_cnt + 1, c_data = substr($5 || c_data, 1, 500) \
           where c_w_id = $2 and c_d_id = $3 and c_id = $4 \
           returning c_balance, substr(c_data, 1, 200)"],
    ),
    (
        "take_oldest",
        &["delete from new_order where no_w_id = $1 and no_d_id = $2 and no_o_id = (\
           select no_o_id from new_order where no_w_id = $1 and no_d_id = $2 \
           order by no_o_id limit 1) returning no_o_id"],
    ),
];

/// SQL Server: `+` joins texts, and what a statement returns comes before its condition. The hint
/// makes a concurrent Delivery wait for the oldest row, and continue with the next one.
const MSSQL: &[(&str, &[&str])] = &[
    (
        "pay_bad_credit",
        &["update customer set c_balance = c_balance - $1, c_ytd_payment = c_ytd_payment + $1, \
           c_payment_cnt = c_payment_cnt + 1, c_data = left($5 + c_data, 500) \
           output inserted.c_balance, left(inserted.c_data, 200) \
           where c_w_id = $2 and c_d_id = $3 and c_id = $4"],
    ),
    (
        "take_oldest",
        &["delete from new_order output deleted.no_o_id \
           where no_w_id = $1 and no_d_id = $2 and no_o_id = (\
           select top (1) no_o_id from new_order with (updlock) \
           where no_w_id = $1 and no_d_id = $2 order by no_o_id)"],
    ),
];

const fn own(dialect: Dialect) -> &'static [(&'static str, &'static [&'static str])] {
    match dialect {
        Dialect::Postgres => &[],
        Dialect::Mysql => MYSQL,
        Dialect::Sqlite => SQLITE,
        Dialect::Mssql => MSSQL,
    }
}

/// Replaces the statements that differ in a dialect.
pub fn put(dialect: Dialect, mut statements: Vec<Statement>) -> Vec<Statement> {
    for (name, commands) in own(dialect) {
        for statement in statements.iter_mut().filter(|statement| statement.name == *name) {
            statement.sql = Cow::Owned(commands.join(AND_THEN));
        }
    }
    statements
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{mssql, mysql};
    use crate::workloads::tpcc::{procedures, statements};

    #[test]
    fn own_words_are_those_of_a_statement_and_differ() {
        for dialect in [Dialect::Mysql, Dialect::Sqlite, Dialect::Mssql] {
            let (neutral, own_words) = (statements::all(), put(dialect, statements::all()));
            let pairs = neutral.iter().zip(&own_words);
            let differ = pairs.filter(|(before, after)| before.sql != after.sql);
            assert_eq!(differ.count(), own(dialect).len());
        }
    }

    #[test]
    fn mysql_is_left_with_no_foreign_words() {
        for statement in put(Dialect::Mysql, statements::all()) {
            let commands = mysql::commands(&statement).unwrap();
            let all: Vec<&str> = commands.iter().map(|command| command.sql.as_str()).collect();
            let all = all.join(";");
            for foreign in ["$", "||", " returning "] {
                assert!(!all.contains(foreign), "{all}");
            }
            let used = commands.iter().flat_map(|command| &command.params);
            let most = used.max().map_or(0, |position| usize::from(*position) + 1);
            assert_eq!(most, statement.params.len(), "{all}");
        }
    }

    #[test]
    fn sqlite_is_left_with_no_foreign_words() {
        for statement in put(Dialect::Sqlite, statements::all()) {
            for foreign in [" for update", "left("] {
                assert!(!statement.sql.contains(foreign), "{}", statement.sql);
            }
        }
    }

    #[test]
    fn mssql_is_left_with_no_foreign_words() {
        for statement in put(Dialect::Mssql, statements::all()) {
            let mssql::Command::Text(sql) = mssql::command(&statement, false).unwrap() else {
                panic!("{statement:?}")
            };
            for foreign in ["$", "||", " returning ", " limit ", " for update", "substr("] {
                assert!(!sql.contains(foreign), "{sql}");
            }
            let count = statement.params.len();
            assert!(sql.contains(&format!("@p{count}")), "{sql}");
        }
    }

    #[test]
    fn mssql_calls_are_by_name() {
        for statement in procedures::all(Dialect::Mssql) {
            let call = mssql::Command::Call(statement.name.to_owned());
            assert_eq!(mssql::command(&statement, false).unwrap(), call);
        }
    }

    #[test]
    fn mysql_calls_give_what_the_procedure_takes() {
        for statement in procedures::all(Dialect::Mysql) {
            let [command] = &mysql::commands(&statement).unwrap()[..] else {
                panic!("{statement:?}")
            };
            let given = vec!["?"; statement.params.len()].join(", ");
            assert_eq!(command.sql, format!("call {}({given})", statement.name));
            assert_eq!(command.params.len(), statement.params.len());
        }
    }
}
