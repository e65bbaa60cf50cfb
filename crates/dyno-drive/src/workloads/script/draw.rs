//! Random and other inputs of operations, drawn before each execution.

use std::sync::atomic::Ordering::Relaxed;

use rand::Rng as _;
use rand_distr::{Distribution as _, Zipf};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use super::counter::Counter;
use crate::wire::{Type, Value};

/// Maximum length of a drawn text.
const LONGEST: u32 = 65_536;
/// Largest range of a Zipf distribution: floating point cannot represent every integer above it.
const MOST_RANKS: i64 = 1 << 50;

/// How an input is drawn.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Draw {
    /// Integers from `least` to `greatest`, all equally likely.
    Uniform {
        /// Minimum.
        least: i64,
        /// Maximum.
        greatest: i64,
    },
    /// Integers of which the first is the most likely: rank r has a weight of r^−`exponent`.
    Zipf {
        /// Minimum, the most likely value unless scrambled.
        least: i64,
        /// Maximum.
        greatest: i64,
        /// Exponent, above 0.
        exponent: f64,
        /// Spreads the ranks over the range by a hash, as YCSB does. Two ranks may share a value.
        #[serde(default)]
        scrambled: bool,
    },
    /// Non-uniform integers of the TPC-C specification, clause 2.1.6.
    Nurand {
        /// Minimum.
        least: i64,
        /// Maximum.
        greatest: i64,
        /// The constant A.
        a: i64,
        /// The constant C, 0 to A.
        c: i64,
    },
    /// The next number of a sequence that all users and operations share.
    Sequence {
        /// Its name.
        name: String,
        /// The first number.
        first: i64,
    },
    /// Zipf-distributed, counted back from the last number of a sequence.
    Latest {
        /// Name of the sequence.
        sequence: String,
        /// Its first number.
        first: i64,
        /// The lowest number that may be drawn.
        least: i64,
        /// Exponent, above 0.
        exponent: f64,
    },
    /// One of the values of a pool.
    Pool(String),
    /// Lower-case letters.
    Letters {
        /// Minimum length.
        least: u32,
        /// Maximum length.
        greatest: u32,
    },
    /// A text in which each `#` is a random digit and each `@` a random lower-case letter.
    Pattern(String),
    /// Always the same value.
    Constant(Literal),
}

/// A value of a pool or a constant.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Literal {
    /// An integer, or a decimal in units of its last digit.
    Number(i64),
    /// A text.
    Text(String),
    /// No value.
    Null(()),
}

/// The value of a variable. Texts are in a buffer next to it, which is reused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cell {
    /// No value.
    #[default]
    Null,
    /// An integer, or units of a decimal.
    Number(i64),
    /// The text in the buffer.
    Text,
}

impl Cell {
    /// The value as a parameter of type `kind`; None if it does not fit.
    #[inline]
    pub fn value(self, kind: Type, text: &str) -> Option<Value<'_>> {
        Some(match (self, kind) {
            (Self::Null, _) => Value::Null,
            (Self::Number(number), Type::Int) => Value::Int(i32::try_from(number).ok()?),
            (Self::Number(number), Type::BigInt) => Value::BigInt(number),
            (Self::Number(units), Type::Decimal(scale)) => Value::Decimal { units, scale },
            (Self::Text, Type::Text) => Value::Text(text),
            _ => return None,
        })
    }
}

/// A draw with its constants computed.
#[derive(Debug)]
pub enum Drawer {
    /// See [`Draw::Uniform`].
    Uniform(i64, i64),
    /// See [`Draw::Zipf`]: minimum, number of values, distribution, scrambled.
    Zipf(i64, i64, Zipf<f64>, bool),
    /// See [`Draw::Nurand`].
    Nurand(i64, i64, i64, i64),
    /// See [`Draw::Sequence`]: the place of its counter.
    Sequence(usize),
    /// See [`Draw::Latest`]: the place of the counter, the lowest number, the exponent.
    Latest(usize, i64, f64),
    /// See [`Draw::Pool`].
    Pool(&'static [Literal]),
    /// See [`Draw::Letters`].
    Letters(u32, u32),
    /// See [`Draw::Pattern`].
    Pattern(&'static str),
    /// See [`Draw::Constant`].
    Constant(&'static Literal),
}

impl Drawer {
    /// The draw, with `sequence` for the place of the counter of a name that begins at a number, and
    /// `pool` for the values of a pool. The error says what is wrong.
    pub fn new(
        draw: &'static Draw,
        sequence: &mut impl FnMut(&'static str, i64) -> usize,
        pool: impl Fn(&str) -> Option<&'static [Literal]>,
    ) -> Result<Self, String> {
        let ordered = |least: i64, greatest: i64| {
            if least <= greatest && greatest.checked_sub(least).is_some() {
                Ok(())
            } else {
                Err("has a minimum above its maximum".to_owned())
            }
        };
        let weighed = |exponent: f64| {
            if exponent > 0.0 && exponent <= 100.0 {
                Ok(())
            } else {
                Err("needs an exponent above 0, and at most 100".to_owned())
            }
        };
        Ok(match draw {
            Draw::Uniform { least, greatest } => {
                ordered(*least, *greatest)?;
                Self::Uniform(*least, *greatest)
            }
            Draw::Zipf { least, greatest, exponent, scrambled } => {
                ordered(*least, *greatest)?;
                weighed(*exponent)?;
                let count = greatest - least;
                if count >= MOST_RANKS {
                    return Err("has too many values for a Zipf distribution".to_owned());
                }
                let zipf = Zipf::new((count + 1) as f64, *exponent);
                let zipf = zipf.map_err(|error| error.to_string())?;
                Self::Zipf(*least, count + 1, zipf, *scrambled)
            }
            Draw::Nurand { least, greatest, a, c } => {
                ordered(*least, *greatest)?;
                if *least < 0 || *greatest >= MOST_RANKS || !(0..MOST_RANKS).contains(a) {
                    return Err("needs a range from 0, and A from 0".to_owned());
                }
                if !(0..=*a).contains(c) {
                    return Err("needs C from 0 to A".to_owned());
                }
                Self::Nurand(*least, *greatest, *a, *c)
            }
            Draw::Sequence { name, first } => Self::Sequence(sequence(name, *first)),
            Draw::Latest { sequence: of, first, least, exponent } => {
                weighed(*exponent)?;
                if least >= first {
                    return Err("has nothing before its sequence".to_owned());
                }
                Self::Latest(sequence(of, *first), *least, *exponent)
            }
            Draw::Pool(of) => match pool(of) {
                Some(values) if !values.is_empty() => Self::Pool(values),
                _ => return Err(format!("has no values in {of:?}")),
            },
            Draw::Letters { least, greatest } => {
                if least > greatest || *greatest > LONGEST {
                    return Err(format!("needs a length up to {LONGEST}"));
                }
                Self::Letters(*least, *greatest)
            }
            Draw::Pattern(pattern) => Self::Pattern(pattern),
            Draw::Constant(literal) => Self::Constant(literal),
        })
    }

    /// Draws a value; a text replaces `text`. The last `pending` numbers of a sequence may not be
    /// inserted yet.
    #[inline]
    pub fn draw(
        &self,
        rng: &mut Xoshiro256PlusPlus,
        counters: &[Counter],
        pending: u32,
        text: &mut String,
    ) -> Cell {
        Cell::Number(match self {
            Self::Uniform(least, greatest) => rng.random_range(*least..=*greatest),
            Self::Zipf(least, _, zipf, false) => least + zipf.sample(rng) as i64 - 1,
            Self::Zipf(least, count, zipf, true) => {
                let rank = zipf.sample(rng) as u64;
                least + (fnv(rank) % *count as u64) as i64
            }
            Self::Nurand(least, greatest, a, c) => {
                let mixed = rng.random_range(0..=*a) | rng.random_range(*least..=*greatest);
                (mixed + c) % (greatest - least + 1) + least
            }
            Self::Sequence(at) => counters[*at].fetch_add(1, Relaxed),
            Self::Latest(at, least, exponent) => {
                let newest = counters[*at].load(Relaxed) - 1 - i64::from(pending);
                let newest = newest.max(*least);
                // The distribution follows the sequence; computing it is cheap.
                let ranks = (newest - least + 1).max(1) as f64;
                let back = Zipf::new(ranks, *exponent).map_or(1.0, |zipf| zipf.sample(rng));
                newest - (back as i64 - 1)
            }
            Self::Letters(least, greatest) => {
                text.clear();
                let length = rng.random_range(*least..=*greatest);
                text.extend((0..length).map(|_| letter(rng)));
                return Cell::Text;
            }
            Self::Pattern(pattern) => {
                text.clear();
                text.extend(pattern.chars().map(|place| match place {
                    '#' => char::from(rng.random_range(b'0'..=b'9')),
                    '@' => letter(rng),
                    fixed => fixed,
                }));
                return Cell::Text;
            }
            Self::Pool(values) => return held(&values[rng.random_range(0..values.len())], text),
            Self::Constant(literal) => return held(literal, text),
        })
    }
}

fn letter(rng: &mut Xoshiro256PlusPlus) -> char {
    char::from(rng.random_range(b'a'..=b'z'))
}

fn held(literal: &Literal, text: &mut String) -> Cell {
    match literal {
        Literal::Number(number) => Cell::Number(*number),
        Literal::Text(given) => {
            text.clear();
            text.push_str(given);
            Cell::Text
        }
        Literal::Null(()) => Cell::Null,
    }
}

/// The 64-bit FNV-1a hash of a number, as YCSB spreads its keys by.
fn fnv(number: u64) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
    number.to_le_bytes().iter().fold(0xCBF2_9CE4_8422_2325, mix)
}
