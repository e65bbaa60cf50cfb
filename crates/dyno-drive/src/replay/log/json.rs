//! Rows of PostgreSQL's JSON log: one document a line.

use std::borrow::Cow;

use serde::Deserialize;

use super::time::stamp;

/// The keys of a row that matter here (PostgreSQL manual, "Using JSON-Format Log Output").
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Row<'a> {
    #[serde(borrow)]
    pub timestamp: Cow<'a, str>,
    #[serde(borrow)]
    pub dbname: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub session_id: Cow<'a, str>,
    #[serde(borrow)]
    pub state_code: Cow<'a, str>,
    #[serde(borrow)]
    pub message: Cow<'a, str>,
    #[serde(borrow)]
    pub detail: Cow<'a, str>,
    #[serde(borrow)]
    pub context: Cow<'a, str>,
    #[serde(borrow)]
    pub application_name: Cow<'a, str>,
}

/// Parses a line.
pub fn row(line: &str) -> Option<Row<'_>> {
    serde_json::from_str(line).ok()
}

/// Whether a line is a row, which has a time stamp.
pub fn is_row(line: &[u8]) -> bool {
    row(&String::from_utf8_lossy(line)).is_some_and(|row| stamp(&row.timestamp).is_some())
}
