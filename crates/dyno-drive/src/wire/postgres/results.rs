//! An index of a batch's answers in the read buffer.

use dyno_record::{Error, ErrorKind, Result};

use super::error::ServerError;
use super::frame::{Frame, broken};
use crate::wire::LONGEST_ANSWERS;

/// Transaction status in `ReadyForQuery`: no transaction is open.
pub const IDLE: u8 = b'I';

/// An index over the answers to a batch: statements and their rows, by offset into the read buffer.
/// It copies nothing; the next batch reuses all memory.
#[derive(Debug)]
pub struct Results {
    statements: Vec<Answer>,
    /// Offset of each row's body.
    rows: Vec<u32>,
    /// Bytes of the buffer that are parsed.
    parsed: usize,
    /// The statement with the next answer.
    current: usize,
    status: u8,
    error: Option<ServerError>,
}

/// One statement of the batch.
#[derive(Debug, Clone, Copy)]
struct Answer {
    /// Index in the list of declared statements; `u16::MAX` for others, such as BEGIN.
    statement: u16,
    first_row: u32,
    rows: u32,
    /// Offset and length of its command tag.
    tag: (u32, u32),
}

impl Default for Results {
    fn default() -> Self {
        Self {
            statements: Vec::new(),
            rows: Vec::new(),
            parsed: 0,
            current: 0,
            status: IDLE,
            error: None,
        }
    }
}

impl Results {
    /// Discards the previous batch.
    pub fn clear(&mut self) {
        self.statements.clear();
        self.rows.clear();
        self.parsed = 0;
        self.current = 0;
        self.error = None;
    }

    /// Expects an answer to `statement` next; returns its slot.
    pub fn expect(&mut self, statement: u16) -> u16 {
        self.statements.push(Answer { statement, first_row: 0, rows: 0, tag: (0, 0) });
        (self.statements.len() - 1) as u16
    }

    /// Whether a transaction was open or failed when the server was last ready.
    pub const fn in_transaction(&self) -> bool {
        self.status != IDLE
    }

    /// The first error of the batch, with the declared statement that failed.
    pub fn take_error(&mut self) -> Option<(ServerError, u16)> {
        let statement = self.statements.get(self.current).map_or(u16::MAX, |it| it.statement);
        self.error.take().map(|error| (error, statement))
    }

    /// Continues parsing `buffer`. True once the server is ready again or closes the connection.
    ///
    /// # Errors
    /// `protocol` for unexpected messages, or too many.
    pub fn advance(&mut self, buffer: &[u8]) -> Result<bool> {
        while let Some(frame) = Frame::first(&buffer[self.parsed..])? {
            let body = (self.parsed + 5) as u32;
            self.parsed += frame.length();
            if self.parsed > LONGEST_ANSWERS {
                return Err(broken("results of more than 1 GiB"));
            }
            match frame.tag {
                b'D' => {
                    self.answer()?.rows += 1;
                    self.rows.push(body);
                }
                b'C' | b'I' => {
                    self.answer()?.tag = (body, frame.body.len() as u32);
                    self.current += 1;
                }
                // BindComplete
                b'2' => {
                    let first_row = self.rows.len() as u32;
                    self.answer()?.first_row = first_row;
                }
                b'E' => {
                    let error = ServerError::parse(frame.body);
                    let fatal = error.is_fatal();
                    self.error.get_or_insert(error);
                    if fatal {
                        return Ok(true);
                    }
                }
                b'Z' => {
                    self.status = *frame.body.first().ok_or_else(|| broken("an empty status"))?;
                    return Ok(true);
                }
                // Notices, parameter changes and notifications can arrive at any time.
                b'N' | b'S' | b'A' => {}
                tag => return Err(broken(format_args!("message {:?}", char::from(tag)))),
            }
        }
        Ok(false)
    }

    fn answer(&mut self) -> Result<&mut Answer> {
        self.statements.get_mut(self.current).ok_or_else(|| broken("more responses than requests"))
    }

    /// The declared statement of a slot.
    pub fn statement(&self, slot: u16) -> usize {
        usize::from(self.statements[usize::from(slot)].statement)
    }

    /// Rows that a slot returned.
    pub fn rows(&self, slot: u16) -> usize {
        self.statements.get(usize::from(slot)).map_or(0, |answer| answer.rows as usize)
    }

    /// The number at the end of a command tag: `UPDATE 3` is 3, `INSERT 0 1` is 1.
    pub fn affected(&self, buffer: &[u8], slot: u16) -> Result<u64> {
        let tag = self.statements.get(usize::from(slot)).and_then(|answer| {
            let (start, length) = answer.tag;
            buffer.get(start as usize..(start + length.saturating_sub(1)) as usize)
        });
        let number = tag.and_then(|tag| std::str::from_utf8(tag).ok()?.rsplit(' ').next());
        number.and_then(|text| text.parse().ok()).ok_or_else(|| broken("an invalid command tag"))
    }

    /// A column's bytes, `None` if null.
    #[inline]
    pub fn cell<'a>(
        &self,
        buffer: &'a [u8],
        slot: u16,
        row: usize,
        column: usize,
    ) -> Result<Option<&'a [u8]>> {
        let none = || missing(row, column);
        let answer = self.statements.get(usize::from(slot)).ok_or_else(none)?;
        if row >= answer.rows as usize {
            return Err(none());
        }
        let start = self.rows[answer.first_row as usize + row] as usize;
        let (count, mut rest) = buffer[start..].split_first_chunk::<2>().ok_or_else(none)?;
        if column >= usize::from(u16::from_be_bytes(*count)) {
            return Err(none());
        }
        for _ in 0..column {
            let (length, after) = rest.split_first_chunk::<4>().ok_or_else(none)?;
            let length = i32::from_be_bytes(*length).max(0) as usize;
            rest = after.get(length..).ok_or_else(none)?;
        }
        let (length, after) = rest.split_first_chunk::<4>().ok_or_else(none)?;
        match usize::try_from(i32::from_be_bytes(*length)) {
            Ok(length) => Ok(Some(after.get(..length).ok_or_else(none)?)),
            Err(_) => Ok(None),
        }
    }
}

#[cold]
fn missing(row: usize, column: usize) -> Error {
    let message = format!(
        "the result has no row {row} with a column {column}: check that the data is complete \
         and its scale correct"
    );
    Error::new(ErrorKind::Database, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![tag];
        bytes.extend((body.len() as u32 + 4).to_be_bytes());
        bytes.extend(body);
        bytes
    }

    fn row(cells: &[Option<&[u8]>]) -> Vec<u8> {
        let mut body = (cells.len() as u16).to_be_bytes().to_vec();
        for cell in cells {
            body.extend(cell.map_or(-1, |cell| cell.len() as i32).to_be_bytes());
            body.extend(cell.unwrap_or_default());
        }
        message(b'D', &body)
    }

    fn two_statements() -> Vec<u8> {
        [
            message(b'2', b""),
            row(&[Some(b"a"), None]),
            row(&[Some(b"bc"), Some(b"")]),
            message(b'C', b"SELECT 2\0"),
            message(b'N', b"SNOTICE\0\0"),
            message(b'2', b""),
            message(b'C', b"INSERT 0 1\0"),
            message(b'Z', b"T"),
        ]
        .concat()
    }

    #[test]
    fn answers_are_found_however_the_bytes_arrive() {
        let bytes = two_statements();
        for cut in 0..bytes.len() {
            let mut results = Results::default();
            let (select, insert) = (results.expect(7), results.expect(8));
            assert!(!results.advance(&bytes[..cut]).unwrap());
            assert!(results.advance(&bytes).unwrap());
            assert!(results.in_transaction());
            assert_eq!((results.rows(select), results.rows(insert)), (2, 0));
            assert_eq!(results.cell(&bytes, select, 0, 0).unwrap(), Some(&b"a"[..]));
            assert_eq!(results.cell(&bytes, select, 0, 1).unwrap(), None);
            assert_eq!(results.cell(&bytes, select, 1, 0).unwrap(), Some(&b"bc"[..]));
            assert_eq!(results.cell(&bytes, select, 1, 1).unwrap(), Some(&b""[..]));
            assert!(results.cell(&bytes, select, 2, 0).is_err());
            assert!(results.cell(&bytes, select, 0, 2).is_err());
            assert_eq!(results.affected(&bytes, select).unwrap(), 2);
            assert_eq!(results.affected(&bytes, insert).unwrap(), 1);
        }
    }

    #[test]
    fn an_error_names_its_statement() {
        let bytes = [
            message(b'2', b""),
            message(b'C', b"BEGIN\0"),
            message(b'E', b"VERROR\0C40P01\0Mdeadlock\0\0"),
            message(b'Z', b"E"),
        ]
        .concat();
        let mut results = Results::default();
        results.expect(1);
        results.expect(2);
        results.expect(3);
        assert!(results.advance(&bytes).unwrap());
        let (error, statement) = results.take_error().unwrap();
        assert_eq!((error.code.as_str(), statement), ("40P01", 2));
    }

    #[test]
    fn surplus_answers_and_foreign_messages_are_refused() {
        let mut results = Results::default();
        assert!(results.advance(&message(b'C', b"SELECT 1\0")).is_err());
        assert!(Results::default().advance(&message(b'G', b"\0\0\0")).is_err());
    }

    #[test]
    fn answers_beyond_what_is_numbered_are_refused() {
        let last = message(b'D', b"\0\0");
        // Untouched memory costs nothing.
        let mut bytes = vec![0; LONGEST_ANSWERS + 1];
        for (over, fits) in [(0, true), (1, false)] {
            let start = LONGEST_ANSWERS + over - last.len();
            bytes[start..start + last.len()].copy_from_slice(&last);
            let mut results = Results { parsed: start, ..Results::default() };
            results.expect(0);
            let found = results.advance(&bytes[..start + last.len()]);
            assert_eq!(found.is_ok(), fits, "{found:?}");
        }
    }
}
