//! Checked scripts, with indexes instead of names.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, PoisonError};

use dyno_record::{Error, ErrorKind, Result};

use super::draw::{Draw, Drawer, Literal};
use super::spec::{Operation, Rows, Script, Step, Words};
use crate::wire::{AND_THEN, Access, Dialect, Statement, StatementId, Type};

/// The name of the current time in statements.
const NOW: &str = "now";
/// Maximum inputs and statements of an operation, and parameters of a statement.
const MOST: usize = 256;

/// A checked script. Names of operations outlive every run, so each script is stored once, for the
/// life of the process.
#[derive(Debug)]
pub struct Known {
    /// The original script, bare.
    pub script: &'static Script,
    /// Names of its operations.
    pub names: Vec<&'static str>,
    /// Its operations.
    pub operations: Vec<Ready>,
    /// Its statements. Steps with the same text share one.
    pub statements: Vec<Prepared>,
    /// The largest number of variables of an operation.
    pub variables: usize,
    /// Its sequences with their first numbers, in the order of their counters.
    pub sequences: Vec<(&'static str, i64)>,
    /// The most numbers of sequences that an operation draws.
    pub numbers: u32,
    /// Values that inputs are drawn from.
    pools: Pools,
    /// Cumulative shares of the operations, up to 1.
    shares: Vec<f64>,
}

/// An operation.
#[derive(Debug)]
pub struct Ready {
    /// Its draws: the first variables.
    pub drawers: Vec<Drawer>,
    /// Its statements.
    pub steps: Vec<Queued>,
    /// Read or write.
    pub access: Access,
    /// Whether it runs without BEGIN and COMMIT.
    pub bare: bool,
}

/// A statement of an operation.
#[derive(Debug)]
pub struct Queued {
    /// Its name in messages.
    pub name: &'static str,
    /// Its index in the workload.
    pub id: StatementId,
    /// The sources of its parameters.
    pub given: Vec<Given>,
    /// The variables for the first columns of its first row, with their types.
    pub keeps: Vec<(usize, Type)>,
    /// The expected number of rows.
    pub rows: Option<Rows>,
    /// Whether the answers to the statements before it must have arrived.
    pub waits: bool,
}

/// The source of a parameter.
#[derive(Debug, Clone, Copy)]
pub enum Given {
    /// The operation's variable with this index.
    Variable(usize),
    /// The current time.
    Now,
}

/// A statement to prepare.
#[derive(Debug, PartialEq, Eq)]
pub struct Prepared {
    name: &'static str,
    sql: &'static str,
    own: &'static Words,
    returns: &'static [Type],
    /// Types of its parameters.
    pub params: &'static [Type],
}

impl Prepared {
    /// The statement in a dialect.
    pub fn statement(&self, dialect: Dialect) -> Statement {
        let own = self.own.get(&dialect).map(|commands| commands.join(AND_THEN));
        let sql = own.map_or_else(|| self.sql.into(), Into::into);
        Statement { name: self.name, sql, params: self.params, returns: self.returns }
    }

    fn is_like(&self, other: &Self) -> bool {
        Self { name: other.name, ..*self } == *other
    }
}

type Pools = BTreeMap<String, &'static [Literal]>;

/// Large pools are stored once, also if scripts differ in other parts.
fn interned(values: &[Literal]) -> &'static [Literal] {
    static POOLS: Mutex<Vec<&'static [Literal]>> = Mutex::new(Vec::new());
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = pools.iter().copied().find(|known| *known == values) {
        return found;
    }
    let new: &'static [Literal] = values.to_vec().leak();
    pools.push(new);
    new
}

static KNOWN: Mutex<Vec<&'static Known>> = Mutex::new(Vec::new());

impl Known {
    /// Checks a script.
    ///
    /// # Errors
    /// `usage` if it is invalid, with the name of the operation or statement.
    pub fn of(script: &Script) -> Result<&'static Self> {
        check(script)?;
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let pools: Pools =
            script.pools.iter().map(|(name, values)| (name.clone(), interned(values))).collect();
        let bare = script.clone_bare();
        let same = |found: &Self| *found.script == bare && found.pools == pools;
        if let Some(found) = known.iter().copied().find(|found| same(found)) {
            return Ok(found);
        }
        let script: &'static Script = Box::leak(Box::new(bare));
        let made: &'static Self = Box::leak(Box::new(Self::new(script, pools)?));
        known.push(made);
        Ok(made)
    }

    fn new(script: &'static Script, pools: Pools) -> Result<Self> {
        let mut making = Making { pools: &pools, statements: Vec::new(), sequences: Vec::new() };
        let operations = &script.operations;
        let ready = operations.iter().map(|it| making.operation(it)).collect::<Result<Vec<_>>>()?;
        let whole: f64 = operations.iter().map(|operation| operation.weight).sum();
        let mut sum = 0.0;
        let share = |operation: &Operation| {
            sum += operation.weight;
            sum / whole
        };
        let sequences = |it: &Ready| {
            it.drawers.iter().filter(|drawer| matches!(drawer, Drawer::Sequence(_))).count()
        };
        let kept = |it: &Ready| it.steps.iter().map(|step| step.keeps.len()).sum::<usize>();
        Ok(Self {
            script,
            names: operations.iter().map(|operation| operation.name.as_str()).collect(),
            variables: ready.iter().map(|it| it.drawers.len() + kept(it)).max().unwrap_or(0),
            numbers: ready.iter().map(sequences).max().unwrap_or(0) as u32,
            operations: ready,
            statements: making.statements,
            sequences: making.sequences,
            pools,
            shares: operations.iter().map(share).collect(),
        })
    }

    /// The operation for a random number from 0 to 1.
    pub fn pick(&self, drawn: f64) -> usize {
        let place = self.shares.iter().position(|share| drawn < *share);
        place.unwrap_or(self.shares.len() - 1)
    }
}

/// What operations share.
struct Making<'a> {
    pools: &'a Pools,
    statements: Vec<Prepared>,
    sequences: Vec<(&'static str, i64)>,
}

impl Making<'_> {
    fn operation(&mut self, operation: &'static Operation) -> Result<Ready> {
        let mut drawers = Vec::with_capacity(operation.inputs.len());
        for input in &operation.inputs {
            drawers.push(self.drawer(&input.name, &input.draw)?);
        }
        let inputs = operation.inputs.iter().map(|input| (input.name.as_str(), input.kind));
        let mut variables: Vec<(&str, Type)> = inputs.collect();
        // Of the values in `variables`, those that have arrived.
        let mut here = variables.len();
        let bare = operation.bare;
        let mut steps: Vec<Queued> = Vec::with_capacity(operation.steps.len());
        for step in &operation.steps {
            let given = step.given.iter().map(|name| given(step, name, &variables));
            let given = given.collect::<Result<Vec<_>>>()?;
            let late = |given: &Given| matches!(given, Given::Variable(at) if *at >= here);
            let apart = bare || operation.waits;
            let waits = !steps.is_empty() && (apart || given.iter().any(late));
            if waits {
                here = variables.len();
            }
            let params: Vec<Type> = given.iter().map(|it| kind_of(*it, &variables)).collect();
            let id = self.statement(step, params);
            let mut keeps = Vec::with_capacity(step.keeps.len());
            for (name, kind) in step.keeps.iter().zip(&step.returns) {
                if variables.iter().any(|(known, _)| known == name) {
                    return Err(usage(
                        &step.name,
                        &format!("keeps {name:?}, which is there twice"),
                    ));
                }
                keeps.push((variables.len(), *kind));
                variables.push((name, *kind));
            }
            steps.push(Queued { name: &step.name, id, given, keeps, rows: step.rows, waits });
        }
        Ok(Ready { drawers, steps, access: access(operation), bare })
    }

    fn drawer(&mut self, name: &str, draw: &'static Draw) -> Result<Drawer> {
        let (pools, sequences) = (self.pools, &mut self.sequences);
        let mut sequence = |name: &'static str, first: i64| {
            let found = sequences.iter().position(|(known, _)| *known == name);
            found.unwrap_or_else(|| {
                sequences.push((name, first));
                sequences.len() - 1
            })
        };
        let pool = |name: &str| -> Option<&'static [Literal]> { pools.get(name).copied() };
        Drawer::new(draw, &mut sequence, pool)
            .map_err(|wrong| usage(&format!("input {name}"), &wrong))
    }

    fn statement(&mut self, step: &'static Step, params: Vec<Type>) -> StatementId {
        let Step { name, sql, own, returns, .. } = step;
        let made = Prepared { name, sql, own, returns, params: params.leak() };
        let found = self.statements.iter().position(|known| known.is_like(&made));
        let place = found.unwrap_or(self.statements.len());
        if found.is_none() {
            self.statements.push(made);
        }
        StatementId(u16::try_from(place).unwrap_or(u16::MAX))
    }
}

fn access(operation: &Operation) -> Access {
    let reads = |step: &Step| step.sql.trim_start().to_ascii_lowercase().starts_with("select");
    if operation.steps.iter().all(reads) { Access::Read } else { Access::Write }
}

fn given(step: &Step, name: &str, variables: &[(&str, Type)]) -> Result<Given> {
    let place = variables.iter().position(|(known, _)| *known == name);
    match place {
        Some(at) => Ok(Given::Variable(at)),
        None if name == NOW => Ok(Given::Now),
        None => Err(usage(&step.name, &format!("has no input {name:?}"))),
    }
}

fn kind_of(given: Given, variables: &[(&str, Type)]) -> Type {
    match given {
        Given::Now => Type::Timestamp,
        Given::Variable(at) => variables[at].1,
    }
}

fn check(script: &Script) -> Result<()> {
    let Script { name, operations, .. } = script;
    if operations.is_empty()
        || !operations.iter().all(|it| it.weight.is_finite() && it.weight > 0.0)
    {
        return Err(usage(name, "needs operations, each with a weight above 0"));
    }
    let steps = operations.iter().flat_map(|operation| &operation.steps);
    let names = operations.iter().map(|it| &it.name).chain(steps.map(|step| &step.name));
    let mut seen = HashSet::new();
    for (place, each) in names.enumerate() {
        // An operation and a statement may share a name; two of the same kind may not.
        if !seen.insert((place < operations.len(), each)) {
            return Err(usage(each, "is there twice"));
        }
    }
    if seen.len() >= usize::from(u16::MAX) {
        return Err(usage(name, "has too many statements"));
    }
    for operation in operations {
        let Operation { name, keying_s, thinking_s, inputs, steps, .. } = operation;
        let pauses = [keying_s, thinking_s];
        if !pauses.iter().all(|seconds| (0.0..=3600.0).contains(*seconds)) {
            return Err(usage(name, "has a pause that is not 0 to 3600 s"));
        }
        if steps.is_empty() || steps.len() > MOST || inputs.len() > MOST {
            return Err(usage(
                name,
                &format!("needs 1 to {MOST} steps, and {MOST} inputs at most"),
            ));
        }
        if let Some(step) = steps.iter().find(|step| step.given.len() > MOST) {
            return Err(usage(&step.name, &format!("has more than {MOST} parameters")));
        }
        let unread = |step: &&Step| {
            let readable = step.returns.iter().filter(|kind| **kind != Type::Rest).count();
            step.keeps.len() > readable
                || step.returns.iter().rev().skip(1).any(|it| *it == Type::Rest)
        };
        if let Some(step) = steps.iter().find(unread) {
            return Err(usage(&step.name, "keeps columns that it does not declare"));
        }
    }
    Ok(())
}

fn usage(what: &str, wrong: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("workload: {what} {wrong}"))
}
