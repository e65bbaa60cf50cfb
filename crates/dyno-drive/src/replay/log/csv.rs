//! Rows of PostgreSQL's CSV log.

use super::time::stamp;

/// Fewest columns, those of PostgreSQL 12 and before; later ones add to them.
const FEWEST: usize = 23;
const MOST: usize = 40;

/// Splits a record into fields, without the quotes. False if it is not a whole record.
pub fn split(record: &[u8], fields: &mut Vec<Vec<u8>>) -> bool {
    let mut count = 0;
    let mut rest = record;
    loop {
        if count == MOST {
            return false;
        }
        if fields.len() == count {
            fields.push(Vec::new());
        }
        let field = &mut fields[count];
        field.clear();
        count += 1;
        let end = if let [b'"', inner @ ..] = rest {
            let Some(length) = quoted(inner, field) else { return false };
            length + 1
        } else {
            let end = rest.iter().position(|byte| matches!(byte, b',' | b'"' | b'\n'));
            let end = end.unwrap_or(rest.len());
            field.extend_from_slice(&rest[..end]);
            end
        };
        match rest.get(end) {
            None => break,
            Some(b',') => rest = &rest[end + 1..],
            Some(_) => return false,
        }
    }
    fields.truncate(count);
    count >= FEWEST
}

/// Appends a field up to its closing quote; returns the bytes up to behind it.
fn quoted(inner: &[u8], field: &mut Vec<u8>) -> Option<usize> {
    let mut at = 0;
    loop {
        let quote = at + inner[at..].iter().position(|byte| *byte == b'"')?;
        field.extend_from_slice(&inner[at..quote]);
        if inner.get(quote + 1) != Some(&b'"') {
            return Some(quote + 1);
        }
        field.push(b'"');
        at = quote + 2;
    }
}

/// Whether a line begins like a row: with a time stamp, and a field after it.
pub fn is_row(line: &[u8]) -> bool {
    let Some(end) = line.iter().take(80).position(|byte| *byte == b',') else { return false };
    std::str::from_utf8(&line[..end]).is_ok_and(|text| stamp(text).is_some())
}
