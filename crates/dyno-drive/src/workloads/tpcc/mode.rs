//! Where a transaction is programmed.

use serde::Deserialize;

/// Where the transactions are programmed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// In the client, statement by statement.
    #[default]
    Client,
    /// In the database, as procedures that the target has: one call a transaction.
    Procedure,
}
