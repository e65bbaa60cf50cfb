//! SQLite inside this process: each session is a connection with its own thread.
//!
//! Only one transaction at a time may write to a file: [`Embedded`] reports how long the write lock
//! was held and how long others waited for it, and what the sessions' page caches did.

mod batch;
mod config;
mod error;
mod pages;
mod patience;
mod prepare;
mod session;
#[cfg(test)]
mod session_tests;
mod settings;
mod turn;
mod values;
mod words;
mod worker;

use std::sync::Arc;

use dyno_record::Result;

pub use config::Config;
pub use session::SqliteSession;
pub use settings::{Setting, Settings};

pub(crate) use error::classed;
pub(crate) use settings::{read, set};

use super::{Dialect, Statement, Wire};
use crate::alarm::Alarm;
use crate::outcome::Embedded;
use pages::Pages;
use turn::Turns;

/// Opens sessions to one file.
#[derive(Debug, Clone)]
pub struct Sqlite {
    config: Arc<Config>,
    shared: Arc<Shared>,
}

/// What all sessions of a file report to.
#[derive(Debug, Default)]
struct Shared {
    turns: Turns,
    pages: Pages,
}

impl Sqlite {
    /// Creates a wire to the file of `config`.
    pub fn new(config: Config) -> Self {
        Self { config: Arc::new(config), shared: Arc::default() }
    }
}

impl Wire for Sqlite {
    const DIALECT: Dialect = Dialect::Sqlite;

    type Session = SqliteSession;

    async fn connect(&self, statements: &[Statement], _alarm: &Alarm) -> Result<SqliteSession> {
        SqliteSession::open(&self.config, &self.shared, statements.into()).await
    }

    fn embedded(&self) -> Option<Embedded> {
        Some(Embedded { writer: self.shared.turns.take(), page_cache: self.shared.pages.take() })
    }
}
