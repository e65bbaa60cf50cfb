//! Operations as lists of statements with random inputs, like pgbench scripts: for workloads
//! without logic between statements. A statement may take values from rows of earlier ones. An
//! operation is one transaction, in as few round trips as its values allow.

mod counter;
mod draw;
mod known;
mod preview;
mod spec;

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use dyno_record::{Error, ErrorKind, Result, derive_seed};
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::pacer::think_ns;
use crate::wire::{Dialect, Session, Slot, Statement, Type, Value};
use crate::workloads::contract::{Params, Terminal, TxnOutcome, Workload};
use counter::{Counter, counter};
use draw::Cell;
pub use draw::{Draw, Literal};
use known::{Given, Known, Queued};
pub use preview::{Preview, preview};
pub use spec::{Input, Operation, Rows, Script, Step, Words};

/// Parameters of a statement that need no allocation.
const FEW_PARAMETERS: usize = 32;

impl Params for Script {
    type Workload = Scripted;

    fn workload(&self, seed: u64) -> Result<Scripted> {
        let known = Known::of(self)?;
        let counter = |(name, first): &(&str, i64)| counter(self.lasting.get(*name), *first);
        let counters = known.sequences.iter().map(counter).collect();
        Ok(Scripted { seed, known, counters, users: Arc::default() })
    }
}

/// The workload, the seed of its inputs and the counters of its sequences.
#[derive(Debug, Clone)]
pub struct Scripted {
    seed: u64,
    known: &'static Known,
    counters: Arc<[Counter]>,
    /// The number of users, as far as they are known.
    users: Arc<AtomicU32>,
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
        self.known.statements.iter().map(|prepared| prepared.statement(dialect)).collect()
    }

    fn terminal(&self, user: u32) -> Actor {
        let stream = |purpose| {
            let seed = derive_seed(self.seed, self.name(), user.into(), purpose);
            Xoshiro256PlusPlus::seed_from_u64(seed)
        };
        let most = self.known.variables;
        self.users.fetch_max(user + 1, Relaxed);
        Actor {
            known: self.known,
            counters: Arc::clone(&self.counters),
            users: Arc::clone(&self.users),
            inputs: stream("inputs"),
            thinking: stream("think"),
            drawn: None,
            previous: None,
            lacks_inputs: false,
            cells: vec![Cell::Null; most],
            texts: vec![String::new(); most],
            slots: Vec::new(),
        }
    }
}

/// One user.
#[derive(Debug)]
pub struct Actor {
    known: &'static Known,
    counters: Arc<[Counter]>,
    users: Arc<AtomicU32>,
    inputs: Xoshiro256PlusPlus,
    thinking: Xoshiro256PlusPlus,
    drawn: Option<usize>,
    previous: Option<usize>,
    lacks_inputs: bool,
    /// Values of the operation's variables: inputs, then those kept from rows.
    cells: Vec<Cell>,
    texts: Vec<String>,
    /// Statements of the current batch.
    slots: Vec<Slot>,
}

impl Terminal for Actor {
    fn draw(&mut self) -> usize {
        self.previous = self.drawn;
        let place = self.known.pick(self.inputs.random());
        self.drawn = Some(place);
        self.lacks_inputs = true;
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
        if self.lacks_inputs {
            self.draw_inputs(place);
        }
        let known = self.known;
        let (operation, steps) = (&known.operations[place], &known.operations[place].steps);
        if !operation.bare {
            session.queue_begin(operation.access);
        }
        let mut first = 0;
        self.slots.clear();
        for (number, queued) in steps.iter().enumerate() {
            if queued.waits {
                session.flush().await?;
                self.read(session, &steps[first..number])?;
                first = number;
            }
            let slot = self.queue(session, queued, unix_us)?;
            self.slots.push(slot);
        }
        if !operation.bare {
            session.queue_commit();
        }
        session.flush().await?;
        self.read(session, &steps[first..])?;
        Ok(TxnOutcome::Committed)
    }

    fn can_repeat(&self) -> bool {
        self.drawn.is_none_or(|place| {
            let operation = &self.known.operations[place];
            !operation.bare || operation.steps.len() == 1
        })
    }
}

impl Actor {
    /// Draws the inputs of an operation. Only once it runs: a user who thinks, or who is stopped,
    /// must hold no number of a sequence that others take for inserted.
    fn draw_inputs(&mut self, place: usize) {
        let drawers = &self.known.operations[place].drawers;
        let pending = self.users.load(Relaxed).saturating_mul(self.known.numbers);
        for (drawer, (cell, text)) in drawers.iter().zip(self.cells.iter_mut().zip(&mut self.texts))
        {
            *cell = drawer.draw(&mut self.inputs, &self.counters, pending, text);
        }
        self.lacks_inputs = false;
    }

    #[inline]
    fn queue<S: Session>(&self, session: &mut S, queued: &Queued, unix_us: i64) -> Result<Slot> {
        let count = queued.given.len();
        let (mut few, mut many) = ([Value::Null; FEW_PARAMETERS], Vec::new());
        let values = if count <= FEW_PARAMETERS {
            &mut few[..count]
        } else {
            many.resize(count, Value::Null);
            &mut many[..]
        };
        let kinds = self.known.statements[usize::from(queued.id.0)].params;
        for ((value, given), kind) in values.iter_mut().zip(&queued.given).zip(kinds) {
            *value = match given {
                Given::Now => Value::Timestamp(unix_us),
                Given::Variable(at) => match self.cells[*at].value(*kind, &self.texts[*at]) {
                    Some(value) => value,
                    None => return Err(unfit(queued, *kind)),
                },
            };
        }
        Ok(session.queue(queued.id, values))
    }

    /// Compares the numbers of rows of a batch with the expected ones, and keeps values.
    #[inline]
    fn read<S: Session>(&mut self, session: &S, steps: &[Queued]) -> Result<()> {
        for (slot, queued) in self.slots.drain(..).zip(steps) {
            if let Some(rows) = queued.rows {
                let found = session.affected(slot)?;
                if !rows.contains(found) {
                    return Err(unlike(queued, rows, found));
                }
            }
            if queued.keeps.is_empty() {
                continue;
            }
            if session.rows(slot) == 0 {
                return Err(without_row(queued));
            }
            for (column, (at, kind)) in queued.keeps.iter().enumerate() {
                let text = &mut self.texts[*at];
                self.cells[*at] = kept(session, slot, column, *kind, text)?;
            }
        }
        Ok(())
    }
}

/// A column of the first row; a text replaces `text`.
fn kept<S: Session>(
    session: &S,
    slot: Slot,
    column: usize,
    kind: Type,
    text: &mut String,
) -> Result<Cell> {
    if session.is_null(slot, 0, column)? {
        return Ok(Cell::Null);
    }
    Ok(match kind {
        Type::Int | Type::BigInt => Cell::Number(session.int(slot, 0, column)?),
        Type::Decimal(_) => Cell::Number(session.decimal(slot, 0, column)?),
        Type::Text | Type::Date | Type::Timestamp | Type::Rest => {
            text.clear();
            text.push_str(session.text(slot, 0, column)?);
            Cell::Text
        }
    })
}

#[cold]
fn unlike(queued: &Queued, rows: Rows, found: u64) -> Error {
    let message = format!(
        "statement {} returned or changed {found} rows, not {rows}: check that the data is complete",
        queued.name
    );
    Error::new(ErrorKind::RowCount, message)
}

#[cold]
fn without_row(queued: &Queued) -> Error {
    let message = format!(
        "statement {} returned no row, but a later one needs its values: check that the data is \
         complete",
        queued.name
    );
    Error::new(ErrorKind::RowCount, message)
}

#[cold]
fn unfit(queued: &Queued, kind: Type) -> Error {
    let message = format!("statement {} has a value that does not fit {kind:?}", queued.name);
    Error::new(ErrorKind::Database, message)
}

#[cfg(test)]
#[path = "script/tests.rs"]
mod tests;
