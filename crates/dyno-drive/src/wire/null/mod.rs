//! A simulated target with known results, which tests pacing, histograms and the whole pipeline.
//!
//! Statements return one row of zeros and empty texts. The service time of a transaction passes in
//! the batch that ends it; a batch outside transactions counts as one.

mod model;

use std::sync::{Arc, Mutex, PoisonError};

use dyno_record::{Error, ErrorKind, Result, monotonic_ns};

pub use model::{Distribution, Model, Server, Stall};

use super::{Access, Dialect, Session, Slot, Statement, StatementId, Value, Verbatim, Wire};
use crate::alarm::Alarm;

/// A wire to a simulated server, shared by all its sessions.
#[derive(Debug, Clone)]
pub struct Null {
    /// None if every answer is immediate.
    server: Option<Arc<Mutex<Server>>>,
}

impl Null {
    /// Creates a server that behaves like `model` from now on.
    pub fn new(model: &Model) -> Self {
        let instant = model.mean_ms == 0.0 && model.stall.is_none();
        let server = (!instant).then(|| Arc::new(Mutex::new(Server::new(model, monotonic_ns()))));
        Self { server }
    }
}

impl Wire for Null {
    const DIALECT: Dialect = Dialect::Postgres;

    type Session = NullSession;

    async fn connect(&self, statements: &[Statement], alarm: &Alarm) -> Result<NullSession> {
        let columns = statements.iter().map(|statement| statement.returns.len() as u16).collect();
        Ok(NullSession {
            server: self.server.clone(),
            alarm: alarm.clone(),
            columns,
            queued: Vec::new(),
            open: false,
            ends: false,
            answered: true,
        })
    }
}

/// A session with the simulated server.
#[derive(Debug)]
pub struct NullSession {
    server: Option<Arc<Mutex<Server>>>,
    alarm: Alarm,
    /// Number of result columns of each declared statement.
    columns: Vec<u16>,
    queued: Vec<StatementId>,
    /// Whether a transaction is open.
    open: bool,
    /// Whether the batch ends its transaction.
    ends: bool,
    answered: bool,
}

impl NullSession {
    fn open_batch(&mut self) {
        if self.answered {
            self.answered = false;
            self.ends = false;
            self.queued.clear();
        }
    }

    /// Waits for the service time of a transaction.
    async fn serve(&self) {
        if let Some(server) = &self.server {
            let now_ns = monotonic_ns();
            let end_ns = server.lock().unwrap_or_else(PoisonError::into_inner).admit(now_ns);
            self.alarm.sleep_until(end_ns).await;
        }
    }

    fn check(&self, slot: Slot, row: usize, column: usize) -> Result<()> {
        if row < self.rows(slot) && column < self.width(slot) {
            Ok(())
        } else {
            let message = format!("the result has no row {row} with a column {column}");
            Err(Error::new(ErrorKind::Database, message))
        }
    }

    fn width(&self, slot: Slot) -> usize {
        let statement = self.queued.get(usize::from(slot.0));
        statement.map_or(0, |id| usize::from(self.columns[usize::from(id.0)]))
    }
}

impl Session for NullSession {
    const DIALECT: Dialect = Dialect::Postgres;

    #[inline]
    fn queue(&mut self, statement: StatementId, _parameters: &[Value<'_>]) -> Slot {
        self.open_batch();
        self.queued.push(statement);
        Slot((self.queued.len() - 1) as u16)
    }

    fn queue_begin(&mut self, _access: Access) {
        self.open_batch();
        self.open = true;
    }

    fn queue_commit(&mut self) {
        self.open_batch();
        self.ends = true;
    }

    fn queue_rollback(&mut self) {
        self.open_batch();
        self.ends = true;
    }

    async fn flush(&mut self) -> Result<()> {
        self.answered = true;
        let ends = std::mem::take(&mut self.ends) || !self.open;
        self.open &= !ends;
        if ends {
            self.serve().await;
        }
        Ok(())
    }

    async fn recover(&mut self) -> Result<()> {
        self.answered = true;
        self.open = false;
        Ok(())
    }

    async fn close(self) {}

    fn rows(&self, slot: Slot) -> usize {
        usize::from(self.width(slot) > 0)
    }

    fn affected(&self, _slot: Slot) -> Result<u64> {
        Ok(1)
    }

    fn is_null(&self, slot: Slot, row: usize, column: usize) -> Result<bool> {
        self.check(slot, row, column).map(|()| false)
    }

    #[inline]
    fn int(&self, slot: Slot, row: usize, column: usize) -> Result<i64> {
        self.check(slot, row, column).map(|()| 0)
    }

    #[inline]
    fn decimal(&self, slot: Slot, row: usize, column: usize) -> Result<i64> {
        self.check(slot, row, column).map(|()| 0)
    }

    fn text(&self, slot: Slot, row: usize, column: usize) -> Result<&str> {
        self.check(slot, row, column).map(|()| "")
    }
}

impl Verbatim for NullSession {
    async fn verbatim(&mut self, _sql: &str, _values: Option<&[Option<String>]>) -> Result<()> {
        self.serve().await;
        Ok(())
    }
}
