//! Declares statements with their positions: the constants and the list cannot differ.

use std::borrow::Cow;

use crate::wire::{Dialect, Statement, Type};

/// Name, text, parameter types and result types of a statement.
pub type Declared = (&'static str, &'static str, &'static [Type], &'static [Type]);

/// Statements as sessions prepare them.
pub fn statements_of(declared: &'static [Declared]) -> impl Iterator<Item = Statement> {
    declared.iter().map(|(name, sql, params, returns)| Statement {
        name,
        sql: Cow::Borrowed(sql),
        params,
        returns,
    })
}

/// The text of a procedure's call with the arguments `given`. PostgreSQL requires an argument for
/// each of its `results`; in the other databases a procedure returns its results as a row.
pub fn calling(
    dialect: Dialect,
    name: &str,
    given: impl Iterator<Item = String>,
    results: usize,
) -> String {
    let places = if dialect == Dialect::Postgres { results } else { 0 };
    let arguments: Vec<String> = given.chain((0..places).map(|_| "null".to_owned())).collect();
    let arguments = arguments.join(", ");
    match dialect {
        Dialect::Mssql => format!("exec {name} {arguments}"),
        Dialect::Postgres | Dialect::Mysql | Dialect::Sqlite => format!("call {name}({arguments})"),
    }
}

/// Makes a [`StatementId`](crate::wire::StatementId) of each name, and `FIXED`, the list of them in
/// the same order.
macro_rules! statements {
    ($($(#[$doc:meta])* $id:ident = $name:literal, $sql:literal, $params:expr => $returns:expr;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[repr(u16)]
        enum Position { $($id,)* }
        $($(#[$doc])* pub const $id: $crate::wire::StatementId =
            $crate::wire::StatementId(Position::$id as u16);)*
        const FIXED: &[$crate::workloads::declared::Declared] =
            &[$(($name, $sql, $params, $returns),)*];
    };
}

pub(super) use statements;
