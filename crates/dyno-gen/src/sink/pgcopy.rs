//! `PostgreSQL`'s binary COPY format.
//!
//! Source: `PostgreSQL` 18 documentation, COPY, "Binary Format". The layout of `numeric` is that of
//! `numeric_send` in the server (`ndigits, weight, sign, dscale`, then base-10,000 digits).

use dyno_record::Result;

use super::RowSink;
use super::chunk::Chunks;

const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
const TRAILER: [u8; 2] = (-1i16).to_be_bytes();
const NULL_FIELD: [u8; 4] = (-1i32).to_be_bytes();

/// Days and microseconds from the Unix epoch to `PostgreSQL`'s, 2000-01-01.
const EPOCH_DAYS: i32 = 10_957;
const EPOCH_MICROS: i64 = EPOCH_DAYS as i64 * 86_400_000_000;

const POSITIVE: u16 = 0;
const NEGATIVE: u16 = 0x4000;

/// Rows as one binary COPY stream, written in chunks of about [`CHUNK_BYTES`](super::CHUNK_BYTES).
///
/// Rows of several parts may use one sink. Chunks contain whole rows.
#[derive(Debug)]
pub struct PgCopySink<W> {
    chunks: Chunks<W>,
    columns: [u8; 2],
}

impl<W: FnMut(&[u8]) -> Result<()>> PgCopySink<W> {
    /// Creates a stream with `columns` columns, and writes its header. If `write` fails, `end_row`
    /// returns its error.
    pub fn new(columns: usize, write: W) -> Self {
        let mut chunks = Chunks::new(write);
        chunks.buffer.extend_from_slice(HEADER);
        Self { chunks, columns: (columns as i16).to_be_bytes() }
    }

    /// Writes the last rows and the trailer; returns the bytes of the whole stream.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn finish(mut self) -> Result<u64> {
        self.chunks.put(&TRAILER);
        self.chunks.flush()?;
        Ok(self.chunks.bytes())
    }
}

impl<W: FnMut(&[u8]) -> Result<()>> RowSink for PgCopySink<W> {
    #[inline]
    fn begin_row(&mut self) {
        self.chunks.put(&self.columns);
    }

    #[inline]
    fn int32(&mut self, value: i32) {
        let mut field = [0, 0, 0, 4, 0, 0, 0, 0];
        field[4..].copy_from_slice(&value.to_be_bytes());
        self.chunks.put(&field);
    }

    #[inline]
    fn int64(&mut self, value: i64) {
        let mut field = [0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0];
        field[4..].copy_from_slice(&value.to_be_bytes());
        self.chunks.put(&field);
    }

    #[inline]
    fn decimal(&mut self, unscaled: i64, scale: u8) {
        numeric(&mut self.chunks.buffer, unscaled, scale);
    }

    #[inline]
    fn date(&mut self, days: i32) {
        self.int32(days - EPOCH_DAYS);
    }

    #[inline]
    fn timestamp(&mut self, micros: i64) {
        self.int64(micros - EPOCH_MICROS);
    }

    #[inline]
    fn text(&mut self, value: &str) {
        self.chunks.put(&(value.len() as i32).to_be_bytes());
        self.chunks.buffer.extend_from_slice(value.as_bytes());
    }

    #[inline]
    fn null(&mut self) {
        self.chunks.put(&NULL_FIELD);
    }

    #[inline]
    fn end_row(&mut self) -> Result<()> {
        self.chunks.end_row()
    }

    fn bytes(&self) -> u64 {
        self.chunks.bytes()
    }
}

const POWERS: [u64; 17] = {
    let mut powers = [1; 17];
    let mut i = 1;
    while i < powers.len() {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};

/// Base-10,000 digits of the largest `i64` before the point, and of the largest scale after it.
const WHOLE: usize = 5;
const FRACTION: usize = 4;

/// Appends the field of `unscaled / 10^scale`, `scale` ≤ 16.
#[inline]
fn numeric(buffer: &mut Vec<u8>, unscaled: i64, scale: u8) {
    let magnitude = unscaled.unsigned_abs();
    let unit = POWERS[usize::from(scale)];
    let (mut whole, mut fraction) = (magnitude / unit, magnitude % unit);

    let mut digits = [0u16; WHOLE + FRACTION];
    let groups = usize::from(scale).div_ceil(4);
    fraction *= POWERS[groups * 4 - usize::from(scale)];
    for digit in digits[WHOLE..WHOLE + groups].iter_mut().rev() {
        *digit = (fraction % 10_000) as u16;
        fraction /= 10_000;
    }
    let mut first = WHOLE;
    while whole > 0 {
        first -= 1;
        digits[first] = (whole % 10_000) as u16;
        whole /= 10_000;
    }

    // The server never stores leading or trailing zeros; a value without digits is zero.
    let mut end = WHOLE + groups;
    while end > first && digits[end - 1] == 0 {
        end -= 1;
    }
    while first < end && digits[first] == 0 {
        first += 1;
    }
    let digits = &digits[first..end];
    let weight = if digits.is_empty() { 0 } else { WHOLE as i16 - 1 - first as i16 };
    let sign = if unscaled < 0 { NEGATIVE } else { POSITIVE };

    let mut head = [0; 12];
    head[..4].copy_from_slice(&(8 + 2 * digits.len() as i32).to_be_bytes());
    head[4..6].copy_from_slice(&(digits.len() as i16).to_be_bytes());
    head[6..8].copy_from_slice(&weight.to_be_bytes());
    head[8..10].copy_from_slice(&sign.to_be_bytes());
    head[11] = scale;
    buffer.extend_from_slice(&head);
    for digit in digits {
        buffer.extend_from_slice(&digit.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn collect(fill: impl FnOnce(&mut dyn FnMut(i64, u8))) -> Vec<u8> {
        let mut buffer = Vec::new();
        fill(&mut |unscaled, scale| numeric(&mut buffer, unscaled, scale));
        buffer
    }

    /// Decodes a field in the obvious way: the value times `10^scale`.
    fn decode(field: &[u8]) -> (i128, u8) {
        let at = |i: usize| i16::from_be_bytes([field[i], field[i + 1]]);
        let length = i32::from_be_bytes(*field.first_chunk().unwrap());
        let (count, weight, sign, scale) = (at(4), at(6), at(8), at(10));
        assert_eq!(length as usize, field.len() - 4);
        assert_eq!(length, 8 + 2 * i32::from(count));
        let mut value = 0i128;
        for i in 0..count {
            let digit = at(12 + 2 * i as usize);
            assert!((0..10_000).contains(&digit));
            if i == 0 || i == count - 1 {
                assert_ne!(digit, 0, "the server strips zeros at the ends");
            }
            let exponent = 4 * i32::from(weight - i) + i32::from(scale);
            value += if exponent >= 0 {
                i128::from(digit) * 10i128.pow(exponent as u32)
            } else {
                i128::from(digit) / 10i128.pow(-exponent as u32)
            };
        }
        (if sign == NEGATIVE as i16 { -value } else { value }, scale as u8)
    }

    proptest! {
        #[test]
        fn numerics_decode_to_what_went_in(unscaled: i64, shift in 0u32..63, scale in 0u8..=16) {
            let unscaled = unscaled >> shift;
            let field = collect(|put| put(unscaled, scale));
            prop_assert_eq!(decode(&field), (i128::from(unscaled), scale));
        }
    }

    #[test]
    fn known_numerics() {
        // From `SELECT numeric_send(...)` on a server.
        let sent = |unscaled, scale| collect(|put| put(unscaled, scale))[4..].to_vec();
        assert_eq!(sent(0, 2), [0, 0, 0, 0, 0, 0, 0, 2]);
        assert_eq!(sent(-1000, 2), [0, 1, 0, 0, 0x40, 0, 0, 2, 0, 10]);
        assert_eq!(sent(30_000_000, 2), [0, 1, 0, 1, 0, 0, 0, 2, 0, 30]);
        assert_eq!(sent(7, 4), [0, 1, 0xff, 0xff, 0, 0, 0, 4, 0, 7]);
        assert_eq!(sent(2_116_823, 2), [0, 3, 0, 1, 0, 0, 0, 2, 0, 2, 0x04, 0x90, 0x08, 0xfc]);
    }

    #[test]
    fn a_stream_has_header_rows_and_trailer() {
        let mut stream = Vec::new();
        let mut sink = PgCopySink::new(5, |chunk: &[u8]| {
            stream.extend_from_slice(chunk);
            Ok(())
        });
        sink.begin_row();
        sink.int32(-2);
        sink.int64(3);
        sink.text("é");
        sink.null();
        sink.date(EPOCH_DAYS + 1);
        sink.end_row().unwrap();
        let total = sink.finish().unwrap();
        let mut expected = HEADER.to_vec();
        expected.extend([0, 5]);
        expected.extend([0, 0, 0, 4, 0xff, 0xff, 0xff, 0xfe]);
        expected.extend([0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 3]);
        expected.extend([0, 0, 0, 2, 0xc3, 0xa9]);
        expected.extend([0xff; 4]);
        expected.extend([0, 0, 0, 4, 0, 0, 0, 1]);
        expected.extend([0xff, 0xff]);
        assert_eq!(stream, expected);
        assert_eq!(total, stream.len() as u64);
    }
}
