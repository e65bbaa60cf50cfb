//! Reads stored histograms: the public HDR "V2 deflate" encoding in base64.
//!
//! Bundles come from others: lengths are bounded before memory is taken, and ranges are checked. The
//! deserializer of the crate `hdrhistogram` would take a quarter of a megabyte for each histogram,
//! of which a long run has hundreds of thousands.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::{Decompress, FlushDecompress, Status};

use crate::slots::{self, Slot};
use crate::{Error, ErrorKind, Result};

/// A valid histogram of one hour takes at most 300 kB uncompressed.
const LONGEST_TEXT: usize = 500_000;
const LONGEST: usize = 1 << 20;
/// Cookie and length before the compressed content.
const OUTER_HEAD: usize = 8;
/// Cookie, length, offset, digits, lowest and highest value, ratio.
const HEAD: usize = 40;
/// Without the size of a word, which some writers leave out.
const COOKIE: u32 = 0x1c84_9303;
const WORD_SIZE: u32 = 0xf0;
/// A count of 2^56 is beyond every run.
const LARGEST_COUNT: u64 = 1 << 56;

/// Decodes histograms; its buffers are used again.
#[derive(Debug)]
pub struct Decoder {
    inflate: Decompress,
    packed: Vec<u8>,
    content: Vec<u8>,
}

impl Default for Decoder {
    fn default() -> Self {
        Self { inflate: Decompress::new(true), packed: Vec::new(), content: vec![0; LONGEST] }
    }
}

impl Decoder {
    /// Calls `found` with every used slot, ascending, and its count. A histogram of fewer digits
    /// has its counts at the lowest value of each of its slots.
    ///
    /// # Errors
    /// `protocol` if `text` is not an encoded histogram of at most three digits and one hour.
    pub fn decode(&mut self, text: &[u8], mut found: impl FnMut(Slot, u64)) -> Result<()> {
        let length = self.unpack(text).map_err(damaged)?;
        let content = &self.content[..length];
        let (geometry, payload) = head(content).map_err(damaged)?;
        let mut numbers = payload;
        let mut index = 0;
        while !numbers.is_empty() {
            let number = zigzag(&mut numbers).map_err(damaged)?;
            if number < 0 {
                // A run of empty slots.
                index = u64::saturating_add(index, number.unsigned_abs());
            } else {
                if number > 0 {
                    let slot =
                        geometry.slot(index).ok_or_else(|| damaged("a value is too large"))?;
                    found(slot, number as u64);
                }
                index = index.saturating_add(1);
            }
        }
        Ok(())
    }

    /// Unpacks into `content`; returns its length.
    fn unpack(&mut self, text: &[u8]) -> Result<usize, &'static str> {
        if text.len() > LONGEST_TEXT {
            return Err("it is too long");
        }
        self.packed.clear();
        STANDARD.decode_vec(text, &mut self.packed).map_err(|_| "it is not base64")?;
        let deflated = self.packed.get(OUTER_HEAD..).ok_or("it is cut short")?;
        self.inflate.reset(true);
        match self.inflate.decompress(deflated, &mut self.content, FlushDecompress::Finish) {
            Ok(Status::StreamEnd) => Ok(self.inflate.total_out() as usize),
            Ok(_) if self.inflate.total_out() as usize == LONGEST => Err("it is too long"),
            Ok(_) => Err("it is cut short"),
            Err(_) => Err("it cannot be unpacked"),
        }
    }
}

/// How the slots of a stored histogram are laid out.
struct Geometry {
    /// Bits of half a bucket.
    half: u32,
    /// Bits below the unit of its lowest value.
    unit: u32,
}

impl Geometry {
    /// The slot of Dyno's histograms for the slot `index` of this one; `None` beyond an hour.
    fn slot(&self, index: u64) -> Option<Slot> {
        // Dyno's own layout, as nearly always.
        if self.half == slots::HALF && self.unit == 0 {
            return Slot::try_from(index).ok().filter(|slot| usize::from(*slot) < slots::SLOTS);
        }
        let (bucket, half) = (index >> self.half, 1 << self.half);
        let place = (index & (half - 1)) + if bucket == 0 { 0 } else { half };
        let shift = u32::try_from(bucket.saturating_sub(1)).ok()? + self.unit;
        slots::of(place.checked_shl(shift).filter(|value| value >> shift == place)?)
    }
}

/// Splits the content into the layout of its slots and its counts.
fn head(content: &[u8]) -> Result<(Geometry, &[u8]), &'static str> {
    let (head, rest) = content.split_at_checked(HEAD).ok_or("it is cut short")?;
    let number = |at: usize| u32::from_be_bytes(head[at..at + 4].try_into().expect("four bytes"));
    let long = |at: usize| u64::from_be_bytes(head[at..at + 8].try_into().expect("eight bytes"));
    if number(0) & !WORD_SIZE != COOKIE {
        return Err("it has another encoding");
    }
    let (digits, lowest, highest) = (number(12), long(16), long(24));
    let half = match digits {
        1 => 4,
        2 => 7,
        3 => 10,
        _ => return Err("it has too many digits"),
    };
    if lowest == 0 || lowest > highest || highest > slots::HIGHEST_NS {
        return Err("it has another range");
    }
    let payload = rest.get(..number(4) as usize).ok_or("it is cut short")?;
    Ok((Geometry { half, unit: lowest.ilog2() }, payload))
}

/// Takes a number off the front: little endian in groups of seven bits, the sign in the lowest bit.
#[inline]
fn zigzag(numbers: &mut &[u8]) -> Result<i64, &'static str> {
    let mut value = 0;
    for (place, &byte) in numbers.iter().enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * place);
        if value > 2 * LARGEST_COUNT {
            break;
        }
        if byte < 0x80 {
            *numbers = &numbers[place + 1..];
            return Ok((value >> 1) as i64 ^ -((value & 1) as i64));
        }
        if place == 8 {
            break;
        }
    }
    Err("a number is invalid")
}

#[expect(clippy::needless_pass_by_value, reason = "the shape of map_err")]
fn damaged(reason: impl ToString) -> Error {
    Error::new(ErrorKind::Protocol, reason.to_string())
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};
    use proptest::prelude::*;

    use super::*;
    use crate::slots::lowest;

    fn encoded(histogram: &Histogram<u64>) -> String {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(histogram, &mut bytes).unwrap();
        STANDARD.encode(bytes)
    }

    fn decoded(text: &str) -> Result<Vec<(u64, u64)>> {
        let mut found = Vec::new();
        Decoder::default()
            .decode(text.as_bytes(), |slot, count| found.push((lowest(slot), count)))?;
        Ok(found)
    }

    proptest! {
        #[test]
        fn histograms_of_other_digits_and_units_keep_their_counts(
            values in prop::collection::vec(1u64..1 << 41, 0..50),
            digits in 1u8..=3,
            lowest in 1u64..5_000,
        ) {
            let mut histogram = Histogram::<u64>::new_with_bounds(lowest, 1 << 41, digits).unwrap();
            for value in &values {
                histogram.record(*value).unwrap();
            }
            let found = decoded(&encoded(&histogram)).unwrap();
            prop_assert_eq!(found.iter().map(|one| one.1).sum::<u64>(), values.len() as u64);
            for ((found, count), expected) in found.iter().zip(histogram.iter_recorded()) {
                let value = histogram.lowest_equivalent(expected.value_iterated_to());
                prop_assert!(*found <= value && value - found <= value / 1000);
                prop_assert_eq!(*count, expected.count_since_last_iteration());
            }
        }

        #[test]
        fn damage_is_an_error_or_other_counts_but_never_a_panic(
            mut bytes in prop::collection::vec(any::<u8>(), 0..80),
            (lowest, highest, digits) in (0u64..9, 0u64..1 << 43, 0u32..5),
        ) {
            let mut content = COOKIE.to_be_bytes().to_vec();
            content.extend((bytes.len() as u32).to_be_bytes());
            content.extend(0u32.to_be_bytes());
            content.extend(digits.to_be_bytes());
            content.extend(lowest.to_be_bytes());
            content.extend(highest.to_be_bytes());
            content.extend(1f64.to_be_bytes());
            content.append(&mut bytes);
            let mut packed = vec![0; OUTER_HEAD];
            let mut writer = flate2::write::ZlibEncoder::new(&mut packed, flate2::Compression::fast());
            std::io::Write::write_all(&mut writer, &content).unwrap();
            writer.finish().unwrap();
            let _ = decoded(&STANDARD.encode(&packed));
            let _ = decoded(&STANDARD.encode(&packed[..packed.len() / 2]));
        }
    }

    #[test]
    fn what_unpacks_to_too_much_is_refused() {
        let mut packed = vec![0; OUTER_HEAD];
        let mut writer = flate2::write::ZlibEncoder::new(&mut packed, flate2::Compression::fast());
        std::io::Write::write_all(&mut writer, &vec![0; LONGEST + 1]).unwrap();
        writer.finish().unwrap();
        let error = decoded(&STANDARD.encode(&packed)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Protocol);
        assert!(decoded(&"A".repeat(LONGEST_TEXT + 4)).is_err());
    }
}
