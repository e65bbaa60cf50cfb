//! Operations as lists of statements with random inputs, like pgbench scripts: for workloads
//! without logic between statements. Each operation is one transaction in one round trip.

mod known;

use std::collections::BTreeMap;

use dyno_record::{Error, ErrorKind, Result, derive_seed};
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use crate::pacer::think_ns;
use crate::wire::{AND_THEN, Dialect, Session, Slot, Statement, Type, Value};
use crate::workloads::contract::{Params, Terminal, TxnOutcome, Workload};
use known::{Given, Known};

/// Maximum inputs and statements of an operation, and parameters of a statement.
const MOST: usize = 16;

/// A workload's operations.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Its name, part of its random seeds.
    pub name: String,
    /// The operations.
    pub operations: Vec<Operation>,
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
    /// Inputs, drawn uniformly before each execution.
    #[serde(default)]
    pub inputs: Vec<Input>,
    /// The statements, in order.
    pub steps: Vec<Step>,
}

/// A random integer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its name in statements.
    pub name: String,
    /// Minimum.
    pub least: i32,
    /// Maximum.
    pub greatest: i32,
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
    /// Names of the inputs for its parameters, in order; `now` is the current time.
    #[serde(default)]
    pub given: Vec<String>,
    /// Types of its result columns.
    #[serde(default)]
    pub returns: Vec<Type>,
    /// Number of rows that it must return or change; default: any.
    #[serde(default)]
    pub rows: Option<u64>,
}

/// Commands by dialect.
pub type Words = BTreeMap<Dialect, Vec<String>>;

impl Params for Script {
    type Workload = Scripted;

    fn workload(&self, seed: u64) -> Result<Scripted> {
        Ok(Scripted { seed, known: Known::of(self)? })
    }
}

/// The workload and the seed of its inputs.
#[derive(Debug, Clone, Copy)]
pub struct Scripted {
    seed: u64,
    known: &'static Known,
}

impl Workload for Scripted {
    type Terminal = Actor;

    fn name(&self) -> &'static str {
        &self.known.script.name
    }

    fn operations(&self) -> &'static [&'static str] {
        &self.known.names
    }

    fn statements(&self, dialect: Dialect) -> Vec<Statement> {
        let steps = self.known.script.operations.iter().flat_map(|operation| &operation.steps);
        let queues = self.known.queues.iter().flatten();
        let statement = |(step, queued): (&'static Step, &'static known::Queued)| {
            let own = step.own.get(&dialect).map(|commands| commands.join(AND_THEN));
            Statement {
                name: &step.name,
                sql: own.map_or_else(|| step.sql.as_str().into(), Into::into),
                params: &queued.types,
                returns: &step.returns,
            }
        };
        steps.zip(queues).map(statement).collect()
    }

    fn terminal(&self, user: u32) -> Actor {
        let stream = |purpose| {
            let seed = derive_seed(self.seed, self.name(), user.into(), purpose);
            Xoshiro256PlusPlus::seed_from_u64(seed)
        };
        Actor {
            known: self.known,
            inputs: stream("inputs"),
            thinking: stream("think"),
            drawn: None,
            previous: None,
            values: [0; MOST],
        }
    }
}

/// One user.
#[derive(Debug)]
pub struct Actor {
    known: &'static Known,
    inputs: Xoshiro256PlusPlus,
    thinking: Xoshiro256PlusPlus,
    drawn: Option<usize>,
    previous: Option<usize>,
    values: [i32; MOST],
}

impl Terminal for Actor {
    fn draw(&mut self) -> usize {
        self.previous = self.drawn;
        let place = self.known.pick(self.inputs.random());
        let operation = &self.known.script.operations[place];
        for (value, input) in self.values.iter_mut().zip(&operation.inputs) {
            *value = self.inputs.random_range(input.least..=input.greatest);
        }
        self.drawn = Some(place);
        place
    }

    fn pause_ns(&mut self) -> u64 {
        let operation = |place: usize| &self.known.script.operations[place];
        let keying_s = self.drawn.map_or(0.0, |place| operation(place).keying_s);
        // New users think as if after the first operation, so that they do not all start at once.
        let think_s = operation(self.previous.unwrap_or(0)).thinking_s;
        (keying_s * 1e9) as u64 + think_ns(think_s, self.thinking.random())
    }

    async fn attempt<S: Session>(&mut self, session: &mut S, unix_us: i64) -> Result<TxnOutcome> {
        let Some(place) = self.drawn else {
            return Err(Error::new(ErrorKind::Internal, "no transaction was drawn"));
        };
        let (operation, queue) = (&self.known.script.operations[place], &self.known.queues[place]);
        session.queue_begin(self.known.access[place]);
        let mut slots = [Slot(0); MOST];
        for (slot, queued) in slots.iter_mut().zip(queue) {
            let mut values = [Value::Null; MOST];
            for (value, given) in values.iter_mut().zip(&queued.given) {
                *value = match given {
                    Given::Input(input) => Value::Int(self.values[*input]),
                    Given::Now => Value::Timestamp(unix_us),
                };
            }
            *slot = session.queue(queued.id, &values[..queued.given.len()]);
        }
        session.queue_commit();
        session.flush().await?;
        for (slot, step) in slots.iter().zip(&operation.steps) {
            if let Some(rows) = step.rows {
                let found = session.affected(*slot)?;
                if found != rows {
                    return Err(unlike(step, rows, found));
                }
            }
        }
        Ok(TxnOutcome::Committed)
    }
}

#[cold]
fn unlike(step: &Step, rows: u64, found: u64) -> Error {
    let message = format!(
        "statement {} affected {found} rows, not {rows}: check that the data is complete",
        step.name
    );
    Error::new(ErrorKind::Database, message)
}

#[cfg(test)]
#[path = "script/tests.rs"]
mod tests;
