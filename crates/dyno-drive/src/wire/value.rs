//! Parameters of statements, and the types of results.

use serde::Deserialize;

/// The types that workloads use. Each wire maps them to the database's types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    /// A 32-bit integer.
    Int,
    /// A 64-bit integer.
    BigInt,
    /// An exact decimal with this many digits after the point.
    Decimal(u8),
    /// A text.
    Text,
    /// A calendar date.
    Date,
    /// A time stamp without a time zone.
    Timestamp,
    /// Any number of further result columns, of any types, which are not read. Last only.
    Rest,
}

/// The declared result columns that are read, and whether others may follow them.
pub fn read_columns(returns: &[Type]) -> (&[Type], bool) {
    match returns.split_last() {
        Some((Type::Rest, named)) => (named, true),
        _ => (returns, false),
    }
}

/// Whether `columns` result columns are as declared; `fits` compares the type of one.
pub fn is_declared<C: Copy>(
    returns: &[Type],
    columns: &[C],
    fits: impl Fn(C, Type) -> bool,
) -> bool {
    let (named, open) = read_columns(returns);
    (columns.len() == named.len() || open && columns.len() > named.len())
        && columns.iter().zip(named).all(|(column, kind)| fits(*column, *kind))
}

/// A parameter of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// No value.
    Null,
    /// For [`Type::Int`].
    Int(i32),
    /// For [`Type::BigInt`].
    BigInt(i64),
    /// For [`Type::Decimal`]: `units` · 10^−`scale`.
    Decimal {
        /// The number without its decimal point.
        units: i64,
        /// Digits after the point, at most 8.
        scale: u8,
    },
    /// For [`Type::Text`].
    Text(&'a str),
    /// For [`Type::Date`]: days since the Unix epoch.
    Date(i32),
    /// For [`Type::Timestamp`]: microseconds since the Unix epoch.
    Timestamp(i64),
}

impl Value<'_> {
    /// An amount of money in hundredths.
    pub const fn cents(units: i64) -> Self {
        Self::Decimal { units, scale: 2 }
    }
}
