//! Databases that can be loaded, and how to connect to them.

mod sqlite;

use serde::Deserialize;

pub use sqlite::SqliteFile;

use crate::wire::{mssql, mysql, postgres};

/// A database to load.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LoadWire {
    /// A PostgreSQL server.
    Postgres(postgres::Config),
    /// A SQLite file.
    Sqlite(SqliteFile),
    /// A MariaDB or MySQL server.
    Mysql(mysql::Config),
    /// A SQL Server.
    Mssql(mssql::Config),
}
