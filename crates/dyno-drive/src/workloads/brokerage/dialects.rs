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
