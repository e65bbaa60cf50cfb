//! Scripts as plans contain them.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use super::draw::{Draw, Literal};
use crate::wire::{Dialect, Type};

/// A workload's operations.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Its name, part of its random seeds.
    pub name: String,
    /// The operations.
    pub operations: Vec<Operation>,
    /// Values that inputs are drawn from, by name.
    #[serde(default)]
    pub pools: BTreeMap<String, Vec<Literal>>,
    /// Sequences that go on from level to level, with the key of the counter in this process. The
    /// others begin anew.
    #[serde(default)]
    pub lasting: BTreeMap<String, String>,
}

impl Script {
    /// A copy without what differs between runs, and without pools, which may be large.
    pub(super) fn clone_bare(&self) -> Self {
        let (name, operations) = (self.name.clone(), self.operations.clone());
        Self { name, operations, pools: BTreeMap::new(), lasting: BTreeMap::new() }
    }
}

/// One transaction.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// Its name in bundles.
    pub name: String,
    /// Its weight in the mix.
    pub weight: f64,
    /// Keying time before it, seconds.
    #[serde(default)]
    pub keying_s: f64,
    /// Mean think time after it, seconds.
    #[serde(default)]
    pub thinking_s: f64,
    /// Inputs, drawn before each execution, in order.
    #[serde(default)]
    pub inputs: Vec<Input>,
    /// The statements, in order.
    pub steps: Vec<Step>,
    /// Sends each statement alone, without BEGIN and COMMIT.
    #[serde(default)]
    pub bare: bool,
    /// Waits for the answer to each statement before the next one is sent.
    #[serde(default)]
    pub waits: bool,
}

/// An input.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Stated")]
pub struct Input {
    /// Its name in statements.
    pub name: String,
    /// How it is drawn.
    pub draw: Draw,
    /// The type of the parameters that it is given for.
    pub kind: Type,
}

/// An input as written: uniform integers need only their range.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stated {
    name: String,
    #[serde(default)]
    least: Option<i64>,
    #[serde(default)]
    greatest: Option<i64>,
    #[serde(default)]
    draw: Option<Draw>,
    #[serde(default)]
    kind: Option<Type>,
}

impl TryFrom<Stated> for Input {
    type Error = String;

    fn try_from(stated: Stated) -> Result<Self, String> {
        let Stated { name, least, greatest, draw, kind } = stated;
        let draw = match (draw, least, greatest) {
            (Some(draw), None, None) => draw,
            (None, Some(least), Some(greatest)) => Draw::Uniform { least, greatest },
            _ => return Err(format!("input {name} needs either a draw or a range")),
        };
        Ok(Self { name, draw, kind: kind.unwrap_or(Type::Int) })
    }
}

/// One statement.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Its name in messages, unique within the workload.
    pub name: String,
    /// Its SQL with parameters `$1`, `$2` …
    pub sql: String,
    /// Commands for dialects that need different ones.
    #[serde(default)]
    pub own: Words,
    /// Names of the variables for its parameters, in order; `now` is the current time.
    #[serde(default)]
    pub given: Vec<String>,
    /// Types of its result columns.
    #[serde(default)]
    pub returns: Vec<Type>,
    /// Names under which later statements have the first row's values, from the first column on.
    #[serde(default)]
    pub keeps: Vec<String>,
    /// Number of rows that it must return or change; default: any.
    #[serde(default)]
    pub rows: Option<Rows>,
}

/// An expected number of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Rows {
    /// This number.
    Exactly(u64),
    /// A minimum and a maximum.
    Between(u64, u64),
}

impl Rows {
    /// Whether `found` is as expected.
    pub const fn contains(self, found: u64) -> bool {
        match self {
            Self::Exactly(rows) => found == rows,
            Self::Between(least, most) => least <= found && found <= most,
        }
    }
}

impl fmt::Display for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(rows) => write!(f, "{rows}"),
            Self::Between(least, most) => write!(f, "{least} to {most}"),
        }
    }
}

/// Commands by dialect.
pub type Words = BTreeMap<Dialect, Vec<String>>;
