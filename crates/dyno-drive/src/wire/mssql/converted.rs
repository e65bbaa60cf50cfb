//! Texts of a batch's answers that are not in UTF-8.

use super::column::{Cell, Column};
use super::text::decode;

/// Texts that are not read where they lie. The next batch reuses the memory.
#[derive(Debug, Default)]
pub struct Converted {
    /// Row, column, and the text's place in `texts`; in order.
    places: Vec<(u32, u16, u32, u32)>,
    texts: String,
}

impl Converted {
    /// Discards the previous batch.
    pub fn clear(&mut self) {
        self.places.clear();
        self.texts.clear();
    }

    /// Adds the value at column `place` of the newest row, if it has to be converted. False if it
    /// is not in its column's encoding.
    #[inline]
    pub fn add(&mut self, row: u32, place: usize, column: Column, cell: Cell<'_>) -> bool {
        if !column.is_converted(cell) {
            return true;
        }
        let from = self.texts.len() as u32;
        // A character may be split between two chunks only where one is longer than any answer.
        let texts = &mut self.texts;
        let valid = cell.parts().all(|part| decode(part, column.encoding, texts).is_some());
        self.places.push((row, place as u16, from, self.texts.len() as u32));
        valid
    }

    /// The text at column `place` of a row.
    pub fn get(&self, row: u32, place: usize) -> Option<&str> {
        let key = (row, place as u16);
        let found = self.places.binary_search_by_key(&key, |it| (it.0, it.1)).ok()?;
        let (_, _, from, to) = self.places[found];
        self.texts.get(from as usize..to as usize)
    }
}
