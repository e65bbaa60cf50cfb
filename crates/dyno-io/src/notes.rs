//! What a reader must know about how a result came about.

use serde::Serialize;

/// Remarks in the order in which they arose, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Notes(Vec<String>);

impl Notes {
    /// Adds `text` unless it is there already.
    pub fn add(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.0.contains(&text) {
            self.0.push(text);
        }
    }

    /// Adds all of `other`.
    pub fn add_all(&mut self, other: &Self) {
        for text in &other.0 {
            self.add(text.as_str());
        }
    }

    /// All remarks.
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }
}
