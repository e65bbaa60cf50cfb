//! The random values of one block of rows.

use rand::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::nurand::{nurand, uniform};
use crate::scramble::scramble;

/// The use of a random stream. Streams for different uses are independent, so tables that are
/// generated separately agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    LoadConstant,
    Warehouse,
    District,
    Customer,
    History,
    Item,
    Stock,
    Order,
    LineCount,
    OrderLine,
}

const ALPHANUMERIC: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const MARK: &str = "ORIGINAL";

/// A random stream, and a scratch buffer for random text.
#[derive(Debug)]
pub(super) struct Draws {
    rng: Xoshiro256PlusPlus,
    text: Vec<u8>,
}

impl Draws {
    /// The stream for `purpose` in block `block` of `warehouse`.
    pub(super) fn new(seed: u64, purpose: Use, warehouse: u64, block: u64) -> Self {
        let key = [purpose as u64, warehouse, block]
            .into_iter()
            .fold(scramble(seed), |key, part| scramble(key ^ part));
        Self { rng: Xoshiro256PlusPlus::seed_from_u64(key), text: Vec::with_capacity(512) }
    }

    #[inline]
    pub(super) fn between(&mut self, low: i32, high: i32) -> i32 {
        uniform(&mut self.rng, low, high)
    }

    /// True with probability 1/10.
    #[inline]
    pub(super) fn tenth(&mut self) -> bool {
        self.between(1, 10) == 1
    }

    pub(super) fn nurand(&mut self, a: i32, c: i32, low: i32, high: i32) -> i32 {
        nurand(&mut self.rng, a, c, low, high)
    }

    /// Between `shortest` and `longest` letters and digits.
    pub(super) fn alphanumeric(&mut self, shortest: i32, longest: i32) -> &str {
        let length = self.between(shortest, longest) as usize;
        self.fill(length);
        self.shown()
    }

    /// Exactly `length` letters and digits.
    pub(super) fn letters(&mut self, length: usize) -> &str {
        self.fill(length);
        self.shown()
    }

    /// `length` capital letters.
    pub(super) fn capitals(&mut self, length: usize) -> &str {
        self.text.clear();
        for _ in 0..length {
            let letter = b'A' + self.between(0, 25) as u8;
            self.text.push(letter);
        }
        self.shown()
    }

    /// `length` digits, then `suffix`.
    pub(super) fn digits(&mut self, length: usize, suffix: &str) -> &str {
        self.text.clear();
        for _ in 0..length {
            let digit = b'0' + self.between(0, 9) as u8;
            self.text.push(digit);
        }
        self.text.extend_from_slice(suffix.as_bytes());
        self.shown()
    }

    /// 26 to 50 letters and digits; one text in ten contains "ORIGINAL".
    pub(super) fn data(&mut self) -> &str {
        let length = self.between(26, 50) as usize;
        self.fill(length);
        if self.tenth() {
            let at = self.between(0, (length - MARK.len()) as i32) as usize;
            self.text[at..at + MARK.len()].copy_from_slice(MARK.as_bytes());
        }
        self.shown()
    }

    fn shown(&self) -> &str {
        std::str::from_utf8(&self.text).expect("only ASCII is drawn")
    }

    /// Fills the scratch buffer with letters and digits, from 16 random bits each.
    fn fill(&mut self, length: usize) {
        self.text.resize(length.next_multiple_of(8), 0);
        for chunk in self.text.chunks_exact_mut(8) {
            let random = u128::from(self.rng.next_u64()) << 64 | u128::from(self.rng.next_u64());
            for (letter, bits) in chunk.iter_mut().zip(random.to_le_bytes().as_chunks::<2>().0) {
                *letter = ALPHANUMERIC[(usize::from(u16::from_le_bytes(*bits)) * 62) >> 16];
            }
        }
        self.text.truncate(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_every_part_of_their_key() {
        let draw = |seed, purpose, warehouse, block| {
            Draws::new(seed, purpose, warehouse, block).letters(24).to_owned()
        };
        let texts = [
            draw(1, Use::Item, 1, 1),
            draw(2, Use::Item, 1, 1),
            draw(1, Use::Stock, 1, 1),
            draw(1, Use::Item, 2, 1),
            draw(1, Use::Item, 1, 2),
        ];
        assert_eq!(texts[0], draw(1, Use::Item, 1, 1));
        for (i, text) in texts.iter().enumerate() {
            assert!(!texts[..i].contains(text));
        }
    }

    #[test]
    fn texts_have_their_lengths_and_letters() {
        let mut draws = Draws::new(7, Use::Item, 0, 0);
        let mut lengths = [0u32; 51];
        let mut marked = 0;
        for _ in 0..10_000 {
            let text = draws.data();
            assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric()));
            marked += u32::from(text.contains(MARK));
            lengths[text.len()] += 1;
        }
        assert!(lengths[..26].iter().all(|count| *count == 0));
        assert!(lengths[26..].iter().all(|count| *count > 0));
        assert!((900..1_100).contains(&marked), "{marked} of 10,000");
        assert_eq!(draws.digits(4, "11111").len(), 9);
    }
}
