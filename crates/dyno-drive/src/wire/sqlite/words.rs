//! Statements that SQLite says in other words, by their names: it has no LEFT, and no FOR UPDATE,
//! which it needs as little: its one writer holds the lock of the whole file.

use std::fmt::Write as _;

use crate::wire::Statement;
use crate::wire::places::with_places;

/// Name and SQL of each.
const OWN: &[(&str, &str)] = &[
    (
        "pay_bad_credit",
        "update customer set c_balance = c_balance - $1, c_ytd_payment = c_ytd_payment + $1, \
         c_payment_cnt = c_payment_cnt + 1, c_data = substr($5 || c_data, 1, 500) \
         where c_w_id = $2 and c_d_id = $3 and c_id = $4 \
         returning c_balance, substr(c_data, 1, 200)",
    ),
    (
        "take_oldest",
        "delete from new_order where no_w_id = $1 and no_d_id = $2 and no_o_id = (\
         select no_o_id from new_order where no_w_id = $1 and no_d_id = $2 \
         order by no_o_id limit 1) returning no_o_id",
    ),
];

/// A statement's SQL for SQLite, with its numbered parameters: `$1` would be a name there, given a
/// number by the place where it first occurs.
pub fn sql(statement: &Statement) -> String {
    let own = OWN.iter().find(|(name, _)| *name == statement.name);
    with_places(own.map_or(&*statement.sql, |(_, sql)| sql), |number, out| {
        let written = write!(out, "?{number}");
        debug_assert!(written.is_ok(), "a text takes all that is written");
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::tpcc::{HomePolicy, Tpcc};
    use crate::workload::Workload as _;

    #[test]
    fn each_is_a_statement_of_the_workload() {
        let declared = Arc::new(Tpcc::new(1, 1, 1, HomePolicy::All).unwrap()).statements();
        for (name, sql) in OWN {
            let statement = declared.iter().find(|it| it.name == *name).expect(name);
            assert_ne!(statement.sql, *sql, "{name}");
            assert_eq!(super::sql(statement), sql.replace('$', "?"));
        }
    }

    #[test]
    fn parameters_keep_their_numbers_and_texts_their_signs() {
        let statement = Statement {
            name: "any",
            sql: "set a = $2 || ' in $1' where b = $1".into(),
            params: &[],
            returns: &[],
        };
        assert_eq!(sql(&statement), "set a = ?2 || ' in $1' where b = ?1");
    }
}
