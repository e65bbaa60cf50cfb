//! Logs of servers as entries in the order of the file: PostgreSQL's CSV and JSON logs, and the
//! general log of MariaDB and MySQL. A log is untrusted: it is a regular file, its records have a
//! bounded length, and every fault names its line.

mod csv;
mod general;
mod json;
mod postgres;
mod source;
mod time;

use std::collections::BTreeMap;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{BufRead, BufReader, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use dyno_record::{Error, ErrorKind, Result};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use source::Source;

/// Bytes that are read at once.
const CHUNK: usize = 1 << 18;
/// Lines without a record that a log may begin with, because it was cut there.
const MOST_CUT: u64 = 10_000;

/// The format of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// PostgreSQL, `log_destination = csvlog`.
    PostgresCsv,
    /// PostgreSQL, `log_destination = jsonlog`.
    PostgresJson,
    /// MariaDB or MySQL, `general_log`.
    General,
}

/// What happened in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The line that it begins in.
    pub line: u64,
    /// When it began, on the log's own time line. Entries of a session never go back.
    pub at_ns: i64,
    /// The session.
    pub session: u64,
    /// What happened.
    pub what: What,
}

/// The kinds of entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// The session began.
    Opened,
    /// It ran a statement.
    Ran(Ran),
    /// It ran a statement that cannot be replayed.
    Lost(Lost),
    /// It ended.
    Closed,
}

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// Its text.
    pub sql: String,
    /// Values of `$1`, `$2` … of the extended protocol; None for the simple one.
    pub parameters: Option<Vec<Option<String>>>,
    /// How long it took, if the log has that.
    pub took_ns: u64,
    /// Its database; None if unknown, empty if the session had chosen none.
    pub database: Option<String>,
    /// Whether its session is one of Dyno's observers, by its name.
    pub own: bool,
}

/// Why a statement cannot be replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lost {
    /// The log has its text, but not the values of its parameters.
    Parameters,
    /// Its bytes are not UTF-8.
    Encoding,
}

/// The parser of a format.
enum Parser {
    Rows(postgres::Rows),
    General(general::General),
}

/// Which file a log is: its device and its inode.
pub type FileId = (u64, u64);

/// The entries of a log, read as they are needed.
pub struct Entries {
    source: Source,
    parser: Parser,
    format: Format,
    /// Its file; None if it is none.
    pub file: Option<FileId>,
    /// The time of each session's last entry, because a session never goes back.
    latest: BTreeMap<u64, i64>,
    /// Lines before the first record.
    pub cut_before: u64,
    /// The line of a last record that is cut.
    pub cut_at: Option<u64>,
}

impl std::fmt::Debug for Entries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entries").field("format", &self.format).finish_non_exhaustive()
    }
}

impl Entries {
    /// Opens a log. If it was read before, it must be that `file`; then at most `bytes` are read, and
    /// it has as many.
    ///
    /// # Errors
    /// `usage` if it is a link or no regular file, has changed, or is in no known format; `io`.
    pub fn open(path: &Path, bytes: Option<u64>, file: Option<FileId>) -> Result<Self> {
        let open = || {
            let (from, known) = opened(path)?;
            let id = (known.dev(), known.ino());
            if file.is_some_and(|file| file != id) || bytes.is_some_and(|bytes| bytes > known.len())
            {
                return Err(changed());
            }
            let read = from.take(bytes.unwrap_or(u64::MAX));
            let entries = Self::new(Box::new(BufReader::with_capacity(CHUNK, read)))?;
            Ok(Self { file: Some(id), ..entries })
        };
        open().map_err(|error| error.context(path.display().to_string()))
    }

    /// Reads a log from its first byte.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn new(from: Box<dyn BufRead + Send>) -> Result<Self> {
        let mut source = Source::new(from);
        let (format, cut_before) = format_of(&mut source)?;
        source.back();
        let parser = match format {
            Format::PostgresCsv => Parser::Rows(postgres::Rows::csv()),
            Format::PostgresJson => Parser::Rows(postgres::Rows::json()),
            Format::General => Parser::General(general::General::default()),
        };
        let latest = BTreeMap::new();
        Ok(Self { source, parser, format, file: None, latest, cut_before, cut_at: None })
    }

    /// Its format.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// Bytes read so far.
    pub const fn bytes(&self) -> u64 {
        self.source.bytes()
    }

    /// The next entry; None at the end.
    ///
    /// # Errors
    /// `usage` with the line of a damaged record; `io`.
    pub fn next(&mut self) -> Result<Option<Entry>> {
        let found = match &mut self.parser {
            Parser::Rows(rows) => rows.next(&mut self.source, &mut self.cut_at)?,
            Parser::General(general) => general.next(&mut self.source, &mut self.cut_at)?,
        };
        let Some(mut entry) = found else { return Ok(None) };
        let latest = self.latest.entry(entry.session).or_insert(entry.at_ns);
        *latest = (*latest).max(entry.at_ns);
        entry.at_ns = *latest;
        if entry.what == What::Closed {
            self.latest.remove(&entry.session);
        }
        Ok(Some(entry))
    }
}

/// The error of a log that is not what was read before.
pub fn changed() -> Error {
    let message = "the log was replaced or cut since Dyno planned the replay: replay a copy of it";
    Error::new(ErrorKind::Usage, message)
}

/// Opens a regular file, following no link and waiting for no pipe.
fn opened(path: &Path) -> Result<(File, Metadata)> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let usage = |what: &str| Error::new(ErrorKind::Usage, format!("the log {what}"));
    let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path);
    let file = file.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => usage("does not exist"),
        std::io::ErrorKind::PermissionDenied => usage("is not readable by this user"),
        _ if path.is_symlink() => usage("is a link: name the file itself"),
        _ => Error::from_io(&error, "opening the log"),
    })?;
    let known = file.metadata().map_err(|error| Error::from_io(&error, "opening the log"))?;
    if !known.is_file() {
        return Err(usage("is not a regular file"));
    }
    Ok((file, known))
}

/// The format of the first record, which the source then returns again, and the lines before it: a
/// log may begin in the middle of a record.
fn format_of(source: &mut Source) -> Result<(Format, u64)> {
    let mut before = 0;
    while source.line()?.is_some() {
        if let Some(format) = format_of_line(source.text()) {
            return Ok((format, before));
        }
        before += 1;
        if before > MOST_CUT {
            break;
        }
    }
    let message = if before == 0 {
        "the log is empty".to_owned()
    } else {
        "line 1: not a CSV or JSON log of PostgreSQL (log_destination = csvlog or jsonlog), nor a \
         general log of MariaDB or MySQL"
            .to_owned()
    };
    Err(Error::new(ErrorKind::Usage, message))
}

fn format_of_line(line: &[u8]) -> Option<Format> {
    if line.starts_with(b"{") && json::is_row(line) {
        return Some(Format::PostgresJson);
    }
    if csv::is_row(line) {
        return Some(Format::PostgresCsv);
    }
    general::is_row(line).then_some(Format::General)
}

#[cfg(test)]
mod tests;
