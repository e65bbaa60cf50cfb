//! The pool of pseudo-English from which every comment is cut.
//!
//! The TPC's generator cuts comments out of 300 MiB of text made by a small grammar. This pool
//! holds the same text as one byte a word, with an index from places in the text to words: about
//! 65 MB instead of 300, and a comment is put together again from a handful of words.

use std::sync::OnceLock;

use tpchgen::distribution::Distributions;

use super::grammar::Grammar;
use super::words::{LONGEST, Words};

/// Length of the text in bytes.
pub(super) const TEXT_BYTES: u32 = 300 * 1024 * 1024;

/// Longest piece that is ever cut out.
pub(super) const LONGEST_CUT: usize = 200;

/// The index has an entry for each such number of bytes of text.
const BLOCK: u32 = 64;

/// Where a piece is put together, with the words before it in its block. Aligned, because checking
/// that it is UTF-8 is several times faster then.
#[derive(Debug)]
#[repr(align(16))]
pub(super) struct Scratch([u8; BLOCK as usize + LONGEST_CUT + 3 * LONGEST]);

impl Scratch {
    pub(super) const fn new() -> Self {
        Self([0; BLOCK as usize + LONGEST_CUT + 3 * LONGEST])
    }
}

/// The text.
#[derive(Debug)]
pub(super) struct Pool {
    words: Words,
    /// The words of the text in order. Each brings its leading space, if it has one.
    text: Vec<u8>,
    /// For each block, the last word that starts at or before it.
    blocks: Vec<Anchor>,
}

/// A word of the text (upper 26 bits) and how far before its block it starts (lower 6).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Anchor(u32);

/// A piece of the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    /// Its first word, or one shortly before; unknown until [`Pool::find`].
    word: u32,
    /// Bytes from the start of that word to the piece; until then, from the start of the text.
    lead: u32,
    length: u32,
}

impl Cut {
    /// The piece of `length` bytes (at most [`LONGEST_CUT`]) that starts at `offset`.
    #[inline]
    pub(super) fn at(offset: u32, length: u32) -> Self {
        Self { word: 0, lead: offset + 1, length }
    }
}

static POOL: OnceLock<Pool> = OnceLock::new();

impl Pool {
    /// The pool, made at the first call.
    pub(super) fn get() -> &'static Self {
        POOL.get_or_init(|| Self::new(Distributions::static_default()))
    }

    fn new(distributions: &Distributions) -> Self {
        let mut words = Words::new();
        let mut grammar = Grammar::new(distributions, &mut words);
        // A word and the space before it take 6.9 bytes on average.
        let mut text = Vec::with_capacity(TEXT_BYTES as usize / 6);
        let mut blocks = vec![Anchor::default(); (TEXT_BYTES / BLOCK) as usize + 2];
        // The first word's leading space is not part of the text: places count from it all the same.
        let (mut place, mut indexed) = (0u32, 0usize);
        while place <= TEXT_BYTES {
            grammar.sentences(&mut text);
            for (word, token) in text.iter().enumerate().skip(indexed) {
                let block = place.div_ceil(BLOCK);
                if let Some(anchor) = blocks.get_mut(block as usize) {
                    *anchor = Anchor((word as u32) << 6 | (block * BLOCK - place));
                }
                place += words.length(*token);
            }
            indexed = text.len();
        }
        debug_assert!(text.len() < 1 << 26, "an anchor has 26 bits for the word");
        text.shrink_to_fit();
        Self { words, text, blocks }
    }

    /// Finds the words of a piece.
    #[inline]
    pub(super) fn find(&self, cut: &mut Cut) {
        let Anchor(anchor) = self.blocks[(cut.lead / BLOCK) as usize];
        cut.word = anchor >> 6;
        cut.lead = cut.lead % BLOCK + anchor % 64;
    }

    /// Reads the memory that [`cut`](Self::cut) will need, so that many such waits overlap.
    #[inline]
    pub(super) fn touch(&self, cut: Cut) -> u8 {
        self.text[cut.word as usize]
    }

    /// The piece itself, put together in `scratch`.
    #[inline]
    pub(super) fn cut<'s>(&self, cut: Cut, scratch: &'s mut Scratch) -> &'s str {
        let (start, end) = (cut.lead as usize, (cut.lead + cut.length) as usize);
        let mut filled = 0;
        for token in &self.text[cut.word as usize..] {
            filled += self.words.copy(*token, &mut scratch.0[filled..]);
            if filled >= end {
                break;
            }
        }
        let text = std::str::from_utf8(&scratch.0[..end.next_multiple_of(16)]);
        &text.expect("every word is ASCII")[start..end]
    }
}
