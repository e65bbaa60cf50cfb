//! Translates a statement to the server's dialect: one command, or two if the server lacks
//! RETURNING.

use std::borrow::Cow;

use dyno_record::{Error, ErrorKind, Result};

use crate::wire::{AND_THEN, Statement};

/// A command to prepare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Its text, with `?` for parameters.
    pub sql: String,
    /// For each `?`, the index among the statement's parameters, from 0.
    pub params: Vec<u8>,
}

/// The commands for `statement`, to run one after another in one transaction. At most one returns
/// rows.
///
/// # Errors
/// `internal` if a text cannot be translated.
pub fn commands(statement: &Statement) -> Result<Vec<Command>> {
    statement
        .sql
        .split(AND_THEN)
        .flat_map(returning)
        .map(|text| {
            positional(&text).ok_or_else(|| {
                let message = format!("statement {} has parameters out of order", statement.name);
                Error::new(ErrorKind::Internal, message)
            })
        })
        .collect()
}

/// Whether a text only reads: a query on tables. A function may do anything.
pub fn reads(sql: &str) -> bool {
    let text = sql.to_ascii_lowercase();
    text.starts_with("select ") && text.contains(" from ")
}

/// Whether a text calls a procedure.
pub fn calls(sql: &str) -> bool {
    let first = sql.split_ascii_whitespace().next();
    first.is_some_and(|word| word.eq_ignore_ascii_case("call"))
}

/// Splits `update … returning …`, which neither server supports. A query with the same condition
/// reads the rows after the update: a transaction sees its own changes at every isolation level and
/// holds the locks of what it changed. No statement changes what its condition compares.
fn returning(sql: &str) -> Vec<Cow<'_, str>> {
    let parts = || {
        let (change, columns) = sql.split_once(" returning ")?;
        let table = change.strip_prefix("update ")?.split(' ').next()?;
        let (_, condition) = change.rsplit_once(" where ")?;
        let query = format!("select {columns} from {table} where {condition}");
        Some(vec![Cow::Borrowed(change), Cow::Owned(query)])
    };
    parts().unwrap_or_else(|| vec![Cow::Borrowed(sql)])
}

/// Replaces `$1`, `$2` … with `?`, except in quotes. Returns `None` for an invalid parameter
/// number.
fn positional(sql: &str) -> Option<Command> {
    let mut command = Command { sql: String::with_capacity(sql.len()), params: Vec::new() };
    let mut quote = None;
    let mut rest = sql.chars().peekable();
    while let Some(character) = rest.next() {
        match (character, quote) {
            ('$', None) => {
                let mut number = 0u32;
                while let Some(digit) = rest.peek().and_then(|next| next.to_digit(10)) {
                    number = number.checked_mul(10)?.checked_add(digit)?;
                    rest.next();
                }
                command.params.push(u8::try_from(number.checked_sub(1)?).ok()?);
                command.sql.push('?');
                continue;
            }
            ('\'' | '"' | '`', None) => quote = Some(character),
            (_, Some(opened)) if opened == character => quote = None,
            _ => {}
        }
        command.sql.push(character);
    }
    Some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(name: &'static str, sql: &'static str) -> Statement {
        Statement { name, sql: sql.into(), params: &[], returns: &[] }
    }

    fn texts(statement: &Statement) -> Vec<(String, Vec<u8>)> {
        let commands = commands(statement).unwrap();
        commands.into_iter().map(|command| (command.sql, command.params)).collect()
    }

    #[test]
    fn parameters_keep_their_numbers_whatever_their_order() {
        let found = texts(&statement("x", "select '$1', `a$2` from t where a = $2 and b = $10"));
        assert_eq!(
            found,
            [("select '$1', `a$2` from t where a = ? and b = ?".to_owned(), vec![1, 9])]
        );
        for wrong in ["select $0", "select $", "select $999"] {
            let error = commands(&statement("x", wrong)).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Internal);
        }
    }

    #[test]
    fn an_update_that_returns_rows_becomes_two_commands() {
        let sql = "update t set a = a + $1, b = $1 where c = $2 and d = $3 returning a - 1, e";
        assert_eq!(
            texts(&statement("x", sql)),
            [
                (
                    "update t set a = a + ?, b = ? where c = ? and d = ?".to_owned(),
                    vec![0, 0, 1, 2]
                ),
                ("select a - 1, e from t where c = ? and d = ?".to_owned(), vec![1, 2]),
            ]
        );
    }

    #[test]
    fn a_statement_may_be_several_commands() {
        let sql = format!("select a from t where b = $2{AND_THEN}delete from t where b = $2");
        let sql = Statement { name: "x", sql: sql.into(), params: &[], returns: &[] };
        assert_eq!(
            texts(&sql),
            [
                ("select a from t where b = ?".to_owned(), vec![1]),
                ("delete from t where b = ?".to_owned(), vec![1]),
            ]
        );
    }

    #[test]
    fn calls_are_known_whatever_their_case_and_white_space() {
        for sql in ["call p($1)", "CALL p($1)", "Call\tp($1)", " \n call\n  p($1)"] {
            assert!(calls(sql), "{sql}");
        }
        for sql in ["", "callp($1)", "select a from call_log"] {
            assert!(!calls(sql), "{sql}");
        }
    }

    #[test]
    fn only_queries_of_tables_are_known_to_change_nothing() {
        assert!(reads("select a from t where b = $1"));
        for sql in ["select f($1)", "update t set a = 1", "call p($1)", "delete from t"] {
            assert!(!reads(sql), "{sql}");
        }
    }
}
