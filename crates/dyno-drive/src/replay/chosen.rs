//! The statements of a log that are replayed, and why the others are not.

use std::collections::{HashMap, HashSet, VecDeque};

use dyno_record::Result;
use serde::Serialize;

use super::dialect_of;
use super::log::{Entries, Entry, Format, Lost, Ran, What};
use super::plan::Selection;
use super::sql::{Kind, Named, Reader, Turn, autocommit, in_its_place, named, turn};
use crate::wire::Dialect;

/// How far the times in a log may be out of order because it has the end of statements, ns. Reading
/// goes on for that long after the requested time, as a replay reads ahead that far.
const DISORDER_NS: i64 = (super::feed::MOST_AHEAD_S * 1e9) as i64;

/// Entries without anything that are read at once: the caller may be cancelled, and give what it has.
const MOST_NOTHING: usize = 256;

/// What MariaDB and MySQL write for a variable of a procedure, function or trigger, whose statements
/// are in the general log, too. They run again with their caller.
const VARIABLE: &str = "NAME_CONST('";

/// What the statements of Dyno's observers contain.
const OWN: &str = "/* dyno observer */";

/// Why a statement is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Of another database.
    Database,
    /// Of a session whose database the log does not show.
    Unknown,
    /// It may change or lock rows.
    Writes,
    /// It changes tables.
    Ddl,
    /// It changes a setting that the replay keeps.
    Pinned,
    /// Files, users, rights, the server itself, or not understood.
    Never,
    /// The log lacks the values of its parameters.
    Parameters,
    /// Not UTF-8.
    Encoding,
    /// Its session is one too many.
    Sessions,
    /// Of Dyno's own observation.
    Own,
    /// Of a procedure, function or trigger.
    Inner,
    /// It drops a statement that the application prepared by the protocol.
    Prepared,
}

/// What comes next.
#[derive(Debug)]
pub enum Found {
    /// A statement to replay.
    Run {
        /// Where it is in the log.
        line: u64,
        /// When it was sent, on the log's time line.
        at_ns: i64,
        /// Its session.
        session: u64,
        /// The statement.
        ran: Ran,
        /// What it does, and the hash of its class.
        class: (Kind, u64),
    },
    /// A statement that is left out.
    Left {
        /// Where it is in the log.
        line: u64,
        /// Why.
        reason: Reason,
    },
    /// A session ended.
    End {
        /// Where it ended in the log.
        line: u64,
        /// The session.
        session: u64,
        /// When, on the log's time line, if the log has that.
        at_ns: Option<i64>,
    },
    /// Nothing in many entries.
    Nothing,
}

/// The statements of a log, read as they are needed.
#[derive(Debug)]
pub struct Chosen {
    /// The log.
    pub entries: Entries,
    select: Selection,
    reader: Reader,
    open: HashSet<u64>,
    refused: HashSet<u64>,
    /// Sessions with an open transaction, and those whose `autocommit` is off; as they are replayed,
    /// and only for one database.
    transacting: HashSet<u64>,
    manual: HashSet<u64>,
    /// Statements that sessions prepared by SQL. Those of the protocol have no name in a replay.
    prepared: HashMap<u64, HashSet<String>>,
    pending: VecDeque<Found>,
    /// The time of the log at its first statement to replay, from which the span counts.
    pub first_ns: Option<i64>,
}

impl Chosen {
    /// Of a log.
    pub fn new(entries: Entries, select: Selection) -> Self {
        let reader = Reader::new(dialect_of(entries.format()));
        let first_ns = select.first_ns;
        Self {
            entries,
            select,
            reader,
            open: HashSet::new(),
            refused: HashSet::new(),
            transacting: HashSet::new(),
            manual: HashSet::new(),
            prepared: HashMap::new(),
            pending: VecDeque::new(),
            first_ns,
        }
    }

    /// The log's dialect.
    pub const fn dialect(&self) -> Dialect {
        dialect_of(self.entries.format())
    }

    /// The class of the last statement, as text.
    pub fn class(&self) -> &str {
        self.reader.text()
    }

    /// What comes next; None at the end.
    ///
    /// # Errors
    /// Those of [`Entries::next`].
    pub fn next(&mut self) -> Result<Option<Found>> {
        for _ in 0..MOST_NOTHING {
            if let Some(found) = self.pending.pop_front() {
                return Ok(Some(found));
            }
            let Some(entry) = self.entries.next()? else { return Ok(None) };
            let Entry { line, at_ns, session, what } = entry;
            // The id of a session that ended without a word may return.
            let ended = matches!(what, What::Opened | What::Closed)
                || self.select.ends.get(&session) == Some(&line);
            let closed_ns = matches!(what, What::Closed).then_some(at_ns);
            match what {
                What::Opened | What::Closed => {}
                What::Lost(lost) => {
                    if self.is_within(at_ns, 0) {
                        let reason = match lost {
                            Lost::Parameters => Reason::Parameters,
                            Lost::Encoding => Reason::Encoding,
                        };
                        self.pending.push_back(Found::Left { line, reason });
                    }
                }
                What::Ran(ran) => {
                    let end_ns = at_ns.saturating_add_unsigned(ran.took_ns);
                    if !self.is_within(end_ns, DISORDER_NS) {
                        return Ok(None);
                    }
                    if self.is_within(at_ns, 0) {
                        let found = self.judge(line, at_ns, session, ran);
                        if matches!(found, Found::Run { .. }) {
                            self.first_ns.get_or_insert(end_ns);
                        }
                        self.pending.push_back(found);
                    }
                }
            }
            if ended {
                self.refused.remove(&session);
                self.transacting.remove(&session);
                self.manual.remove(&session);
                self.prepared.remove(&session);
                if self.open.remove(&session) {
                    self.pending.push_back(Found::End { line, session, at_ns: closed_ns });
                }
            }
        }
        Ok(Some(self.pending.pop_front().unwrap_or(Found::Nothing)))
    }

    /// Whether a time is before the end of the requested span, or `more_ns` after it.
    fn is_within(&self, at_ns: i64, more_ns: i64) -> bool {
        let (Some(first_ns), Some(span_s)) = (self.first_ns, self.select.span_s) else {
            return true;
        };
        at_ns.saturating_sub(first_ns) < ((span_s * 1e9) as i64).saturating_add(more_ns)
    }

    fn judge(&mut self, line: u64, at_ns: i64, session: u64, mut ran: Ran) -> Found {
        if ran.own || ran.sql.contains(OWN) {
            return Found::Left { line, reason: Reason::Own };
        }
        if self.entries.format() == Format::General && ran.sql.contains(VARIABLE) {
            return Found::Left { line, reason: Reason::Inner };
        }
        let (mut kind, mut hash) = self.reader.read(&ran.sql);
        let leaves = kind == Kind::Never || (kind == Kind::Pinned && !self.select.pinned);
        if leaves && let Some(sql) = in_its_place(self.dialect(), kind, self.class(), &ran.sql) {
            (ran.sql, ran.parameters) = (sql, None);
            (kind, hash) = self.reader.read(&ran.sql);
        }
        let elsewhere = self.elsewhere(session, kind, ran.database.as_deref());
        let reason = match kind {
            _ if elsewhere.is_some() => elsewhere,
            Kind::Never => Some(Reason::Never),
            Kind::Pinned if !self.select.pinned => Some(Reason::Pinned),
            Kind::Ddl if !self.select.ddl => Some(Reason::Ddl),
            Kind::Write | Kind::Ddl if !self.select.writes => Some(Reason::Writes),
            // The session only reads, and stays so.
            _ if !self.select.writes && self.reader.unlocks() => Some(Reason::Writes),
            _ if !self.knows(session) => Some(Reason::Prepared),
            // A session without a statement to replay takes no other's place.
            _ if !self.admits(session) => Some(Reason::Sessions),
            _ => None,
        };
        if let Some(reason) = reason {
            return Found::Left { line, reason };
        }
        self.follow(session, kind, &ran.sql);
        Found::Run { line, at_ns, session, ran, class: (kind, hash) }
    }

    /// Whether the last text drops no prepared statement, or one that its session has in a replay.
    /// A failed DEALLOCATE would abort the transaction.
    fn knows(&mut self, session: u64) -> bool {
        if self.dialect() != Dialect::Postgres {
            return true;
        }
        match named(self.reader.text()) {
            Some(Named::Prepares(name)) => {
                self.prepared.entry(session).or_default().insert(name);
                true
            }
            Some(Named::Drops(name)) => {
                self.prepared.get_mut(&session).is_some_and(|names| names.remove(&name))
            }
            None => true,
        }
    }

    /// Why a statement does not belong to the chosen database; None if it does.
    fn elsewhere(&self, session: u64, kind: Kind, database: Option<&str>) -> Option<Reason> {
        let wanted = self.select.database.as_deref()?;
        let reason = match database {
            Some(database) if database == wanted => return None,
            // What a session sets before it chooses a database still applies then.
            Some("") if kind == Kind::Session => return None,
            None if self.select.unknown => return None,
            Some("") | None => Reason::Unknown,
            Some(_) => Reason::Database,
        };
        // A transaction would stay open without its end, whatever database is chosen then.
        let is_open = self.transacting.contains(&session) || self.manual.contains(&session);
        (!is_open || !matches!(kind, Kind::Control | Kind::Session)).then_some(reason)
    }

    /// Follows the transactions of a session that is replayed.
    fn follow(&mut self, session: u64, kind: Kind, sql: &str) {
        if self.select.database.is_none() || kind == Kind::Read {
            return;
        }
        match turn(self.reader.text()) {
            Turn::Begins => self.transacting.insert(session),
            Turn::Ends => self.transacting.remove(&session),
            Turn::Stays => false,
        };
        match autocommit(self.reader.text(), sql) {
            Some(false) => self.manual.insert(session),
            Some(true) => self.manual.remove(&session),
            None => false,
        };
    }

    /// Whether a session may be open beside the others.
    fn admits(&mut self, session: u64) -> bool {
        if self.open.contains(&session) {
            return true;
        }
        if self.refused.contains(&session) {
            return false;
        }
        let fits = self.select.most.is_none_or(|most| self.open.len() < most as usize);
        let known = if fits { &mut self.open } else { &mut self.refused };
        known.insert(session);
        fits
    }
}
