//! What a reader must know about how a result came about.

use serde::Serialize;

/// What a remark is about, so that nobody has to read its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topic {
    /// What was sampled of a target could be answered without its media; `content` of the target
    /// has the figures.
    Content,
    /// A curve that was to settle did not; `settled` of the outcome has it.
    Unsettled,
    /// The page cache may have answered; `direct` of the outcome has it.
    PageCache,
    /// Some of a target is on no written extent; `extents_written` of the target has it.
    Unwritten,
    /// It could not be checked whether reads reach the device.
    Unchecked,
    /// A test file that a killed run has left.
    Leftover,
    /// Others changed a target while it was measured.
    Disturbed,
    /// I/O went on long after a step.
    LongDrain,
    /// Something less than the best was used: an engine, buffers, cores, locks.
    Fallback,
}

/// A remark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// What it is about.
    pub code: Topic,
    /// The words.
    pub text: String,
}

/// Remarks in the order in which they arose, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Notes(Vec<Note>);

impl Notes {
    /// Adds a remark unless it is there already.
    pub fn add(&mut self, code: Topic, text: impl Into<String>) {
        let note = Note { code, text: text.into() };
        if !self.0.contains(&note) {
            self.0.push(note);
        }
    }

    /// Adds all of `other`.
    pub fn add_all(&mut self, other: &Self) {
        for note in &other.0 {
            self.add(note.code, note.text.as_str());
        }
    }

    /// All remarks.
    pub fn as_slice(&self) -> &[Note] {
        &self.0
    }
}
