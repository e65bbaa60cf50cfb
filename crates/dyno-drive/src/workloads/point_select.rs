//! One row by its key, repeatedly, like `pgbench -S` and sysbench's `oltp_point_select`: measures a
//! driver's cost when the database has almost no work.

use std::sync::Arc;

use dyno_record::{Error, ErrorKind, Result, derive_seed};
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use crate::wire::{Dialect, Session, Slot, Statement, StatementId, Type, Value};
use crate::workloads::contract::{Params, Terminal, TxnOutcome, Workload};

const SELECT: StatementId = StatementId(0);

/// The statement and its keys.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointSelect {
    /// Selects one column of one row by the key `$1`, a 32-bit integer.
    pub sql: String,
    /// Keys are uniform from 1 to this.
    pub keys: i32,
    /// Type of the column.
    #[serde(default)]
    pub returns: Column,
    /// The expected value of the column, besides its type; default: any.
    #[serde(default)]
    pub holds: Option<Holds>,
}

/// The expected value of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// The key itself, as an integer or as digits.
    Key,
    /// A fixed integer.
    Int(i64),
    /// A text with this number of bytes.
    Bytes(usize),
}

/// The type that the statement returns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// A 32-bit integer.
    #[default]
    Int,
    /// A text.
    Text,
}

impl Params for PointSelect {
    type Workload = Selects;

    fn workload(&self, seed: u64) -> Result<Selects> {
        let message = match (self.returns, self.holds) {
            _ if self.keys < 1 => format!("workload.keys is {}; it must be 1 or more", self.keys),
            (Column::Int, Some(Holds::Bytes(_))) | (Column::Text, Some(Holds::Int(_))) => {
                "workload.holds does not match the type in workload.returns".to_owned()
            }
            _ => return Ok(Selects(Arc::new((self.clone(), seed)))),
        };
        Err(Error::new(ErrorKind::Usage, message))
    }
}

/// The workload and the seed of its keys.
#[derive(Debug, Clone)]
pub struct Selects(Arc<(PointSelect, u64)>);

impl Workload for Selects {
    type Terminal = Reader;

    fn name(&self) -> &'static str {
        "point_select"
    }

    fn operations(&self) -> &'static [&'static str] {
        &["point_select"]
    }

    fn statements(&self, _dialect: Dialect) -> Vec<Statement> {
        let (plan, _) = &*self.0;
        let returns: &[Type] = match plan.returns {
            Column::Int => &[Type::Int],
            Column::Text => &[Type::Text],
        };
        let sql = plan.sql.clone().into();
        vec![Statement { name: "point_select", sql, params: &[Type::Int], returns }]
    }

    fn terminal(&self, user: u32) -> Reader {
        let (plan, seed) = &*self.0;
        let seed = derive_seed(*seed, self.name(), user.into(), "keys");
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        Reader { rng, keys: plan.keys, returns: plan.returns, holds: plan.holds, key: 1 }
    }
}

/// One user.
#[derive(Debug)]
pub struct Reader {
    rng: Xoshiro256PlusPlus,
    keys: i32,
    returns: Column,
    holds: Option<Holds>,
    key: i32,
}

impl Reader {
    /// Decodes the one row of the answer.
    ///
    /// # Errors
    /// `database` for a wrong number of rows or a wrong value; `protocol` for a wrong type.
    #[inline]
    fn check<S: Session>(&self, session: &S, slot: Slot) -> Result<()> {
        if session.rows(slot) != 1 {
            return Err(self.wrong(&format!("{} rows, not one", session.rows(slot))));
        }
        match self.returns {
            Column::Int => {
                let value = session.int(slot, 0, 0)?;
                match self.holds {
                    Some(Holds::Key) if value != i64::from(self.key) => {}
                    Some(Holds::Int(right)) if value != right => {}
                    _ => return Ok(()),
                }
                Err(self.wrong(&format!("a row that holds {value}")))
            }
            Column::Text => {
                let value = session.text(slot, 0, 0)?;
                match self.holds {
                    Some(Holds::Key) if value.parse() != Ok(self.key) => {}
                    Some(Holds::Bytes(right)) if value.len() != right => {}
                    _ => return Ok(()),
                }
                Err(self.wrong(&format!("a row that holds another text of {} bytes", value.len())))
            }
        }
    }

    #[cold]
    fn wrong(&self, found: &str) -> Error {
        Error::new(ErrorKind::Database, format!("key {} has {found}", self.key))
    }
}

impl Terminal for Reader {
    fn draw(&mut self) -> usize {
        self.key = self.rng.random_range(1..=self.keys);
        0
    }

    fn pause_ns(&mut self) -> u64 {
        0
    }

    async fn attempt<S: Session>(&mut self, session: &mut S, _unix_us: i64) -> Result<TxnOutcome> {
        let slot = session.queue(SELECT, &[Value::Int(self.key)]);
        session.flush().await?;
        self.check(session, slot)?;
        Ok(TxnOutcome::Committed)
    }
}
