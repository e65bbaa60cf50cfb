//! Values passed between two threads, in reused memory.

use rusqlite::types::ValueRef;

/// A list of SQLite values; texts are stored consecutively.
#[derive(Debug, Default)]
pub struct Values {
    items: Vec<Item>,
    bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
enum Item {
    Null,
    Int(i64),
    Real(f64),
    /// Start and end offset.
    Text(u32, u32),
    Blob(u32, u32),
}

impl Values {
    /// Removes all values and keeps the memory, except the excess of an unusually large batch.
    pub fn clear(&mut self) {
        const KEEP: usize = 1 << 20;
        self.items.clear();
        self.bytes.clear();
        self.bytes.shrink_to(KEEP);
    }

    /// Number of values.
    pub const fn len(&self) -> usize {
        self.items.len()
    }

    /// Appends a value.
    pub fn push(&mut self, value: ValueRef<'_>) {
        let item = match value {
            ValueRef::Null => Item::Null,
            ValueRef::Integer(value) => Item::Int(value),
            ValueRef::Real(value) => Item::Real(value),
            ValueRef::Text(bytes) => {
                let (start, end) = self.keep(bytes);
                Item::Text(start, end)
            }
            ValueRef::Blob(bytes) => {
                let (start, end) = self.keep(bytes);
                Item::Blob(start, end)
            }
        };
        self.items.push(item);
    }

    /// The value at an index, if any.
    pub fn get(&self, position: usize) -> Option<ValueRef<'_>> {
        Some(match *self.items.get(position)? {
            Item::Null => ValueRef::Null,
            Item::Int(value) => ValueRef::Integer(value),
            Item::Real(value) => ValueRef::Real(value),
            Item::Text(start, end) => ValueRef::Text(self.text(start, end)),
            Item::Blob(start, end) => ValueRef::Blob(self.text(start, end)),
        })
    }

    fn keep(&mut self, bytes: &[u8]) -> (u32, u32) {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(bytes);
        (start, self.bytes.len() as u32)
    }

    fn text(&self, start: u32, end: u32) -> &[u8] {
        &self.bytes[start as usize..end as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_as_they_went() {
        let all = [
            ValueRef::Text(b"one"),
            ValueRef::Null,
            ValueRef::Integer(-7),
            ValueRef::Text(b""),
            ValueRef::Real(0.5),
            ValueRef::Blob(b"\xff"),
            ValueRef::Text("zwölf".as_bytes()),
        ];
        let mut values = Values::default();
        for _ in 0..2 {
            values.clear();
            for value in all {
                values.push(value);
            }
            let back: Vec<_> = (0..values.len()).map(|at| values.get(at).unwrap()).collect();
            assert_eq!(back, all);
            assert_eq!(values.get(all.len()), None);
        }
    }
}
