//! Text records of bounded length from a file that is never in memory as a whole.

use std::io::{BufRead, Read as _};

use dyno_record::{Error, ErrorKind, Result};

/// Maximum length of a record, bytes. PostgreSQL accepts statements of 1 GiB, but no log with such
/// statements is worth replaying.
pub const LONGEST: u64 = 64 << 20;

/// A file as numbered lines.
pub struct Source {
    from: Box<dyn BufRead + Send>,
    /// Lines read so far.
    lines: u64,
    bytes: u64,
    text: Vec<u8>,
    peeked: bool,
}

/// The place of a record that is in [`Source::text`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its first line, from 1.
    pub line: u64,
    /// Whether the file ends in it: without a newline, or within quotes.
    pub cut: bool,
}

impl Source {
    /// Reads from the start of `from`.
    pub fn new(from: Box<dyn BufRead + Send>) -> Self {
        Self { from, lines: 0, bytes: 0, text: Vec::new(), peeked: false }
    }

    /// The last record, without its final newline.
    pub fn text(&self) -> &[u8] {
        let line = self.raw();
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// The last line as a part of a record with several: a carriage return at its end may belong to
    /// a text.
    pub fn raw(&self) -> &[u8] {
        self.text.strip_suffix(b"\n").unwrap_or(&self.text)
    }

    /// Bytes read so far.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads the next line; None at the end.
    ///
    /// # Errors
    /// `usage` with the line's number if it is too long; `io`.
    pub fn line(&mut self) -> Result<Option<Place>> {
        if std::mem::take(&mut self.peeked) {
            return Ok(Some(Place { line: self.lines, cut: !self.text.ends_with(b"\n") }));
        }
        self.text.clear();
        self.more(self.lines + 1)
    }

    /// Makes the next [`line`](Self::line) return the current one again.
    pub const fn back(&mut self) {
        self.peeked = true;
    }

    /// Reads the next record whose quotes are balanced, so newlines within quotes belong to it.
    ///
    /// # Errors
    /// As [`line`](Self::line).
    pub fn quoted(&mut self) -> Result<Option<Place>> {
        let Some(mut place) = self.line()? else { return Ok(None) };
        let mut counted = 0;
        let mut open = false;
        loop {
            open ^= quotes(&self.text[counted..]) % 2 == 1;
            if !open || place.cut {
                place.cut |= open;
                return Ok(Some(place));
            }
            counted = self.text.len();
            match self.more(place.line)? {
                Some(next) => place.cut = next.cut,
                None => place.cut = true,
            }
        }
    }

    /// Appends a line to the record that begins in line `first`.
    fn more(&mut self, first: u64) -> Result<Option<Place>> {
        let left = LONGEST.saturating_sub(self.text.len() as u64);
        let read = (&mut self.from).take(left + 1).read_until(b'\n', &mut self.text);
        let read = read.map_err(|error| Error::from_io(&error, "reading the log"))? as u64;
        self.bytes += read;
        if read > left {
            return Err(at(first, format_args!("the record is longer than {LONGEST} bytes")));
        }
        if read == 0 {
            return Ok(None);
        }
        self.lines += 1;
        Ok(Some(Place { line: first, cut: !self.text.ends_with(b"\n") }))
    }
}

#[allow(clippy::naive_bytecount)] // lines are short; the compiler vectorises it
fn quotes(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'"').count()
}

/// The error of a line.
pub fn at(line: u64, what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Usage, format!("line {line}: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &'static str) -> Source {
        Source::new(Box::new(text.as_bytes()))
    }

    #[test]
    fn newlines_within_quotes_belong_to_the_record() {
        let mut source = source("a,\"b\nc\",d\r\ne\n\"f");
        let first = source.quoted().unwrap().unwrap();
        assert_eq!((first.line, first.cut, source.text()), (1, false, &b"a,\"b\nc\",d"[..]));
        let second = source.quoted().unwrap().unwrap();
        assert_eq!((second.line, second.cut, source.text()), (3, false, &b"e"[..]));
        let third = source.quoted().unwrap().unwrap();
        assert_eq!((third.line, third.cut), (4, true));
        assert_eq!(source.quoted().unwrap(), None);
        assert_eq!(source.bytes(), 15);
    }

    #[test]
    fn a_line_can_be_read_again() {
        let mut source = source("a\nb\n");
        source.line().unwrap();
        source.back();
        assert_eq!(source.line().unwrap(), Some(Place { line: 1, cut: false }));
        assert_eq!(source.text(), b"a");
        assert_eq!(source.line().unwrap(), Some(Place { line: 2, cut: false }));
    }

    #[test]
    fn endless_records_are_refused_with_their_line() {
        let endless = std::io::BufReader::new(std::io::repeat(b'x'));
        let mut source = Source::new(Box::new(endless));
        let error = source.line().unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage);
        assert!(error.message.starts_with("line 1: "), "{error}");
    }
}
