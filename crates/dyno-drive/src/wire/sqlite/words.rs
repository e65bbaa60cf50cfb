//! Translates a statement's parameters for SQLite.

use std::fmt::Write as _;

use crate::wire::Statement;
use crate::wire::places::with_places;

/// A statement's SQL with numbered parameters (`?1`). SQLite takes `$1` for a name, and numbers
/// names by their first occurrence.
pub fn sql(statement: &Statement) -> String {
    with_places(&statement.sql, |number, out| {
        let written = write!(out, "?{number}");
        debug_assert!(written.is_ok(), "a text takes all that is written");
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
