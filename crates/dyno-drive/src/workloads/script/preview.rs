//! The first transactions of a user with their drawn values, without a database.

use dyno_record::Result;
use serde::Serialize;

use super::Script;
use super::draw::Cell;
use crate::workloads::contract::{Params as _, Terminal as _, Workload as _};

/// A transaction that a user would run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Preview {
    /// The operation's name.
    pub operation: String,
    /// Names and values of its inputs, in order.
    pub values: Vec<(String, Drawn)>,
}

/// A drawn value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Drawn {
    /// No value.
    Null(()),
    /// An integer, or units of a decimal.
    Number(i64),
    /// A text.
    Text(String),
}

/// The first `count` transactions of the first user.
///
/// # Errors
/// `usage` if the script is invalid.
pub fn preview(script: &Script, seed: u64, count: u32) -> Result<Vec<Preview>> {
    let mut actor = script.workload(seed)?.terminal(0);
    let next = |_| {
        let place = actor.draw();
        actor.draw_inputs(place);
        let operation = &script.operations[place];
        let cells = actor.cells.iter().zip(&actor.texts);
        let drawn = |(cell, text): (&Cell, &String)| match cell {
            Cell::Null => Drawn::Null(()),
            Cell::Number(number) => Drawn::Number(*number),
            Cell::Text => Drawn::Text(text.clone()),
        };
        let names = operation.inputs.iter().map(|input| input.name.clone());
        let values = names.zip(cells.map(drawn)).collect();
        Preview { operation: operation.name.clone(), values }
    };
    Ok((0..count).map(next).collect())
}
