//! The vocabulary of comments: fewer than 256 words, each with its leading space.

use tpchgen::distribution::Distribution;

/// Space for a word; the longest are " according to the" and " alongside of the".
pub(super) const LONGEST: usize = 32;

/// The words, indexed by the byte that encodes them.
#[derive(Debug)]
pub(super) struct Words {
    cells: Box<[[u8; LONGEST]; 256]>,
    lengths: [u8; 256],
    count: u8,
}

/// The words of a part of speech, with one byte per unit of weight.
pub(super) type Choice = Vec<u8>;

impl Words {
    pub(super) fn new() -> Self {
        Self { cells: Box::new([[0; LONGEST]; 256]), lengths: [0; 256], count: 0 }
    }

    /// Adds the words of a distribution with prefix `before` and suffix `after`; returns the choice
    /// of them by weight.
    pub(super) fn add(&mut self, from: &Distribution, before: &str, after: &str) -> Choice {
        let mut choice = Choice::new();
        for (i, value) in from.get_values().iter().enumerate() {
            let token = self.push(&format!("{before}{value}{after}"));
            choice.resize(from.get_weight(i) as usize, token);
        }
        choice
    }

    fn push(&mut self, word: &str) -> u8 {
        let token = self.count;
        self.count += 1; // 245 words in all
        self.cells[usize::from(token)][..word.len()].copy_from_slice(word.as_bytes());
        self.lengths[usize::from(token)] = word.len() as u8;
        token
    }

    #[inline]
    pub(super) fn length(&self, token: u8) -> u32 {
        u32::from(self.lengths[usize::from(token)])
    }

    /// Writes a word and padding up to [`LONGEST`] bytes; returns the word's length.
    #[inline]
    pub(super) fn copy(&self, token: u8, to: &mut [u8]) -> usize {
        to[..LONGEST].copy_from_slice(&self.cells[usize::from(token)]);
        usize::from(self.lengths[usize::from(token)])
    }
}
