//! What PostgreSQL's log rows say: statements of `log_statement` and `log_min_duration_statement`,
//! and connections.

use std::borrow::Cow;

use dyno_record::Result;

use super::source::{Source, at};
use super::time::{Wall, stamp};
use super::{Entry, Lost, Ran, What, csv, json};

/// The `application_name` of Dyno's observers.
const OBSERVER: &str = "dyno observer";

/// Reads rows of one of the two formats.
#[derive(Debug)]
pub struct Rows {
    is_csv: bool,
    fields: Vec<Vec<u8>>,
    wall: Wall,
}

/// The fields of a row that matter here.
struct Row<'a> {
    time: Cow<'a, str>,
    database: Option<Cow<'a, str>>,
    session: Cow<'a, str>,
    message: Cow<'a, str>,
    detail: Cow<'a, str>,
    application: Cow<'a, str>,
    /// Whether the server itself says this at the level of a statement that succeeded: messages of
    /// functions (RAISE LOG) have a context, those of errors another state.
    plain: bool,
    garbled: bool,
}

impl Rows {
    /// For `csvlog`.
    pub fn csv() -> Self {
        Self { is_csv: true, fields: Vec::new(), wall: Wall::default() }
    }

    /// For `jsonlog`.
    pub fn json() -> Self {
        Self { is_csv: false, ..Self::csv() }
    }

    /// The next entry; None at the end. A cut last record only sets `cut_at`.
    ///
    /// # Errors
    /// `usage` with the line of a damaged record; `io`.
    pub fn next(&mut self, source: &mut Source, cut_at: &mut Option<u64>) -> Result<Option<Entry>> {
        loop {
            let place = if self.is_csv { source.quoted()? } else { source.line()? };
            let Some(place) = place else { return Ok(None) };
            if source.text().is_empty() {
                continue;
            }
            let line;
            let row = if self.is_csv {
                csv::split(source.text(), &mut self.fields).then(|| of_csv(&self.fields))
            } else {
                line = String::from_utf8_lossy(source.text());
                json::row(&line).map(|row| of_json(row, matches!(line, Cow::Owned(_))))
            };
            let stamped = row.as_ref().and_then(|row| stamp(&row.time));
            let (Some(row), Some((wall_ms, zone))) = (&row, stamped) else {
                if place.cut {
                    *cut_at = Some(place.line);
                    return Ok(None);
                }
                return Err(at(place.line, "the record is cut or damaged"));
            };
            let now_ns = self.wall.at_ns(wall_ms, zone);
            let Some(session) = session_of(&row.session) else {
                continue; // of the server itself, without a session
            };
            if let Some((what, took_ns)) = happened(row) {
                let at_ns = now_ns.saturating_sub_unsigned(took_ns);
                return Ok(Some(Entry { line: place.line, at_ns, session, what }));
            }
        }
    }
}

/// The columns, from 0: PostgreSQL manual, "Using CSV-Format Log Output".
fn of_csv(fields: &[Vec<u8>]) -> Row<'_> {
    let text = |at: usize| String::from_utf8_lossy(&fields[at]);
    let message = text(13);
    Row {
        time: text(0),
        database: Some(text(2)).filter(|name| !name.is_empty()),
        session: text(5),
        detail: text(14),
        application: text(22),
        plain: fields[12] == b"00000" && fields[18].is_empty(),
        garbled: matches!(message, Cow::Owned(_)) || matches!(text(14), Cow::Owned(_)),
        message,
    }
}

/// `garbled` if the row is not UTF-8 somewhere.
fn of_json(row: json::Row<'_>, garbled: bool) -> Row<'_> {
    let lost = |text: &str| text.contains(char::REPLACEMENT_CHARACTER);
    Row {
        garbled: garbled && (lost(&row.message) || lost(&row.detail)),
        plain: matches!(&*row.state_code, "" | "00000") && row.context.is_empty(),
        time: row.timestamp,
        database: row.dbname,
        session: row.session_id,
        message: row.message,
        detail: row.detail,
        application: row.application_name,
    }
}

/// A session id such as `6566a1b2.1a2b`: start and process, both hexadecimal.
fn session_of(text: &str) -> Option<u64> {
    let (start, process) = text.split_once('.')?;
    let process = u32::from_str_radix(process, 16).ok()?;
    Some(u64::from_str_radix(start, 16).ok()? << 32 | u64::from(process))
}

/// What a row reports, and how long it took; None for other messages.
fn happened(row: &Row<'_>) -> Option<(What, u64)> {
    if !row.plain {
        return None;
    }
    let (said, took_ns) = match row.message.strip_prefix("duration: ") {
        Some(rest) => {
            let (ms, said) = rest.split_once(" ms  ")?;
            let ms: f64 = ms.parse().ok().filter(|ms| (0.0..1e12).contains(ms))?;
            (said, (ms * 1e6) as u64)
        }
        None => (&*row.message, 0),
    };
    let (sql, extended) = if let Some(sql) = said.strip_prefix("statement: ") {
        (sql, false)
    } else if let Some(named) = said.strip_prefix("execute ") {
        if named.starts_with("fetch from ") {
            return None; // more rows of a statement that was logged before
        }
        (named.split_once(": ")?.1, true)
    } else if took_ns > 0 {
        return None;
    } else if said.starts_with("connection authorized: ") {
        return Some((What::Opened, 0));
    } else if said.starts_with("disconnection: ") {
        return Some((What::Closed, 0));
    } else {
        return None;
    };
    if row.garbled || sql.contains('\0') {
        return Some((What::Lost(Lost::Encoding), took_ns));
    }
    let parameters = if extended {
        match bound(&row.detail) {
            Some(values) => Some(values),
            None if highest(sql) > 0 => return Some((What::Lost(Lost::Parameters), took_ns)),
            None => Some(Vec::new()),
        }
    } else {
        None
    };
    if parameters.as_ref().is_some_and(|values| values.len() < highest(sql)) {
        return Some((What::Lost(Lost::Parameters), took_ns));
    }
    let database = row.database.as_deref().map(str::to_owned);
    let (sql, own) = (sql.to_owned(), row.application == OBSERVER);
    Some((What::Ran(Ran { sql, parameters, took_ns, database, own }), took_ns))
}

/// The values in a detail such as `parameters: $1 = '7', $2 = NULL, $3 = 'it''s'`. The word at its
/// start is in the server's language.
fn bound(detail: &str) -> Option<Vec<Option<String>>> {
    let mut rest = &detail[detail.find("$1 = ")?..];
    let mut values = Vec::new();
    loop {
        rest = rest.strip_prefix(&*format!("${} = ", values.len() + 1))?;
        if let Some(after) = rest.strip_prefix("NULL") {
            values.push(None);
            rest = after;
        } else {
            let mut value = String::new();
            rest = rest.strip_prefix('\'')?;
            loop {
                let (part, after) = rest.split_once('\'')?;
                value.push_str(part);
                rest = after;
                match rest.strip_prefix('\'') {
                    Some(after) => {
                        value.push('\'');
                        rest = after;
                    }
                    None => break,
                }
            }
            values.push(Some(value));
        }
        if rest.is_empty() {
            return Some(values);
        }
        rest = rest.strip_prefix(", ")?;
    }
}

/// The highest number of a parameter in a statement, also within literals: rather too many.
fn highest(sql: &str) -> usize {
    if !sql.contains('$') {
        return 0;
    }
    crate::replay::sql::parameters(sql)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_values() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            bound("Parameter: $1 = '7', $2 = NULL, $3 = 'it''s, $4 = ''x'''"),
            Some(vec![some("7"), None, some("it's, $4 = 'x'")])
        );
        assert_eq!(bound("parameters: $1 = ''"), Some(vec![some("")]));
        for wrong in ["", "prepare: PREPARE p AS SELECT 1", "parameters: $1 = 'a", "$1 = 7"] {
            assert_eq!(bound(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sessions_have_ids() {
        assert_eq!(session_of("6566a1b2.1a"), Some(0x6566_a1b2_0000_001a));
        assert_eq!(session_of("67"), None);
    }
}
