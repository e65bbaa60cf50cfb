//! Notes that limit or explain a result.

use serde::Serialize;

/// Subject of a note, so that programs need not parse its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topic {
    /// Storage may answer the sampled content of a target without reading its media; `content` of
    /// the target has the values.
    Content,
    /// A curve did not reach its steady state; see `settled` of the outcome.
    Unsettled,
    /// The page cache may have answered; see `direct` of the outcome.
    PageCache,
    /// A target is partly on unwritten extents; see `extents_written` of the target.
    Unwritten,
    /// Dyno could not check whether reads reach the device.
    Unchecked,
    /// A test file left by a killed run.
    Leftover,
    /// Others changed a target during the measurement.
    Disturbed,
    /// I/O continued long after a step.
    LongDrain,
    /// A fallback: engine, buffers, cores or locks.
    Fallback,
}

/// A note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// Its subject.
    pub code: Topic,
    /// Its text.
    pub text: String,
}

/// Notes in the order of their occurrence, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Notes(Vec<Note>);

impl Notes {
    /// Adds a note unless it exists.
    pub fn add(&mut self, code: Topic, text: impl Into<String>) {
        let note = Note { code, text: text.into() };
        if !self.0.contains(&note) {
            self.0.push(note);
        }
    }

    /// Adds all notes of `other`.
    pub fn add_all(&mut self, other: &Self) {
        for note in &other.0 {
            self.add(note.code, note.text.as_str());
        }
    }

    /// All notes.
    pub fn as_slice(&self) -> &[Note] {
        &self.0
    }
}
