//! Checked scripts, with indexes instead of names.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use dyno_record::{Error, ErrorKind, Result};

use super::{MOST, Operation, Script, Step};
use crate::wire::{Access, StatementId, Type};

/// The name of the current time in statements.
const NOW: &str = "now";

/// A checked script. Names of operations outlive every run, so each script is stored once, for the
/// life of the process.
#[derive(Debug)]
pub struct Known {
    /// The original script.
    pub script: &'static Script,
    /// Names of its operations.
    pub names: Vec<&'static str>,
    /// The statements of each operation.
    pub queues: Vec<Vec<Queued>>,
    /// The access of each operation: read or write.
    pub access: Vec<Access>,
    /// Cumulative shares of the operations, up to 1.
    shares: Vec<f64>,
}

/// A statement of an operation.
#[derive(Debug)]
pub struct Queued {
    /// Its index in the workload.
    pub id: StatementId,
    /// The sources of its parameters.
    pub given: Vec<Given>,
    /// Their types.
    pub types: Vec<Type>,
}

/// The source of a parameter.
#[derive(Debug, Clone, Copy)]
pub enum Given {
    /// The operation's input with this index.
    Input(usize),
    /// The current time.
    Now,
}

static KNOWN: Mutex<Vec<&'static Known>> = Mutex::new(Vec::new());

impl Known {
    /// Checks a script.
    ///
    /// # Errors
    /// `usage` if it is invalid, with the name of the operation or statement.
    pub fn of(script: &Script) -> Result<&'static Self> {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.iter().find(|found| found.script == script) {
            return Ok(found);
        }
        check(script)?;
        let script: &'static Script = Box::leak(Box::new(script.clone()));
        let made: &'static Self = Box::leak(Box::new(Self::new(script)?));
        known.push(made);
        Ok(made)
    }

    fn new(script: &'static Script) -> Result<Self> {
        let mut ids = 0..;
        let mut made = |operation: &Operation, step: &Step| {
            let given = step.given.iter().map(|name| given(operation, step, name));
            let given = given.collect::<Result<Vec<_>>>()?;
            let types = given.iter().map(|given| match given {
                Given::Input(_) => Type::Int,
                Given::Now => Type::Timestamp,
            });
            let types = types.collect();
            Ok(Queued { id: StatementId(ids.next().unwrap_or(u16::MAX)), given, types })
        };
        let operations = &script.operations;
        let queues = operations
            .iter()
            .map(|operation| operation.steps.iter().map(|step| made(operation, step)).collect())
            .collect::<Result<_>>()?;
        let whole: f64 = operations.iter().map(|operation| operation.weight).sum();
        let mut sum = 0.0;
        let share = |operation: &Operation| {
            sum += operation.weight;
            sum / whole
        };
        Ok(Self {
            script,
            names: operations.iter().map(|operation| operation.name.as_str()).collect(),
            queues,
            access: operations.iter().map(access).collect(),
            shares: operations.iter().map(share).collect(),
        })
    }

    /// The operation for a random number from 0 to 1.
    pub fn pick(&self, drawn: f64) -> usize {
        let place = self.shares.iter().position(|share| drawn < *share);
        place.unwrap_or(self.shares.len() - 1)
    }
}

fn access(operation: &Operation) -> Access {
    let reads = |step: &Step| step.sql.trim_start().to_ascii_lowercase().starts_with("select");
    if operation.steps.iter().all(reads) { Access::Read } else { Access::Write }
}

fn given(operation: &Operation, step: &Step, name: &str) -> Result<Given> {
    if name == NOW {
        return Ok(Given::Now);
    }
    let place = operation.inputs.iter().position(|input| input.name == name);
    place.map(Given::Input).ok_or_else(|| usage(&step.name, &format!("has no input {name:?}")))
}

fn check(script: &Script) -> Result<()> {
    let Script { name, operations } = script;
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
        if let Some(input) = inputs.iter().find(|input| input.least > input.greatest) {
            return Err(usage(&input.name, "has a minimum above its maximum"));
        }
        if let Some(step) = steps.iter().find(|step| step.given.len() > MOST) {
            return Err(usage(&step.name, &format!("has more than {MOST} parameters")));
        }
    }
    Ok(())
}

fn usage(what: &str, wrong: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("workload: {what} {wrong}"))
}
