//! Texts of a batch's answers that are not in UTF-8.

use super::column::{Cell, Column};
use super::text::decode;

/// Bytes of memory that the next batch reuses.
const KEEP: usize = 1 << 20;

/// Texts that are not read where they lie. The next batch reuses the memory, unless it is large.
#[derive(Debug, Default)]
pub struct Converted {
    /// In order.
    places: Vec<Place>,
    texts: String,
}

/// Row, column, and the text's place in `texts`.
type Place = (u32, u16, u32, u32);

impl Converted {
    /// Discards the previous batch.
    pub fn clear(&mut self) {
        emptied(&mut self.places);
        let mut bytes = std::mem::take(&mut self.texts).into_bytes();
        emptied(&mut bytes);
        self.texts = String::from_utf8(bytes).unwrap_or_default();
    }

    /// Adds the value at column `place` of the newest row, if it has to be converted. One that is
    /// not in its column's encoding is not there, so only reading it fails.
    #[inline]
    pub fn add(&mut self, row: u32, place: usize, column: Column, cell: Cell<'_>) {
        if !column.is_converted(cell) {
            return;
        }
        let Some(bytes) = cell.joined() else { return };
        let from = self.texts.len();
        if decode(&bytes, column.encoding, &mut self.texts).is_some() {
            self.places.push((row, place as u16, from as u32, self.texts.len() as u32));
        } else {
            self.texts.truncate(from);
        }
    }

    /// Bytes of memory that it has.
    #[cfg(test)]
    pub fn capacity(&self) -> usize {
        self.places.capacity() * size_of::<Place>() + self.texts.capacity()
    }

    /// Bytes of memory in use.
    pub const fn size(&self) -> usize {
        self.places.len() * size_of::<Place>() + self.texts.len()
    }

    /// The text at column `place` of a row.
    pub fn get(&self, row: u32, place: usize) -> Option<&str> {
        let key = (row, place as u16);
        let found = self.places.binary_search_by_key(&key, |it| (it.0, it.1)).ok()?;
        let (_, _, from, to) = self.places[found];
        self.texts.get(from as usize..to as usize)
    }
}

/// Removes all elements, and releases memory that only an unusual answer needs.
pub fn emptied<T>(elements: &mut Vec<T>) {
    elements.clear();
    if elements.capacity() * size_of::<T>() > KEEP {
        *elements = Vec::new();
    }
}
