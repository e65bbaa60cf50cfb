//! Values on their way into a statement, and the types of those that come back.

use serde::Deserialize;

/// The types that workloads use. Each wire maps them to its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    /// An integer that fits 32 bits.
    Int,
    /// An integer of 64 bits.
    BigInt,
    /// An exact decimal with this many digits after the point.
    Decimal(u8),
    /// A text.
    Text,
    /// A point in time, without a zone.
    Timestamp,
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
        /// The number without its point.
        units: i64,
        /// Digits after the point, at most 8.
        scale: u8,
    },
    /// For [`Type::Text`].
    Text(&'a str),
    /// For [`Type::Timestamp`]: microseconds since the Unix epoch.
    Timestamp(i64),
}

impl Value<'_> {
    /// An amount of money in hundredths.
    pub const fn cents(units: i64) -> Self {
        Self::Decimal { units, scale: 2 }
    }
}
