//! Where transactions run: in the client or in the database.

use serde::Deserialize;

/// Where transactions run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// In the client, statement by statement.
    #[default]
    Client,
    /// In the database, as the target's stored procedures: one call per transaction.
    Procedure,
}
