//! The general log of MariaDB and MySQL. MariaDB notes the time once a second, so the entries of a
//! second are spread evenly over it.

use std::collections::{BTreeMap, VecDeque};

use dyno_record::Result;

use super::source::{Source, at};
use super::time::{iso_ns, short_ms};
use super::{Entry, Lost, Ran, What};
use crate::replay::sql::{Aside, aside, has_marks, last_use};

/// Maximum entries of one second.
const MOST: usize = 1_000_000;
const SECOND_NS: i64 = 1_000_000_000;
/// The end of summer time sets the clock back by an hour.
const HOUR_MS: i64 = 3_600_000;
const HOUR_NS: i64 = HOUR_MS * 1_000_000;
/// MariaDB takes the time of an entry before the log's lock, so an entry may have the time of an
/// earlier second than the one before it.
const OVERTAKEN_NS: i64 = 60 * SECOND_NS;

/// Reads entries.
#[derive(Debug, Default)]
pub struct General {
    /// Entries with their times.
    ready: VecDeque<Entry>,
    /// Entries of the current second.
    second: Vec<Entry>,
    /// That second, ns.
    second_ns: Option<i64>,
    /// The time of the current entry, if it is exact, ns.
    exact_ns: Option<i64>,
    /// What was added to the wall clock because it went back, ms.
    added_ms: i64,
    /// When that was, ns.
    moved_ns: Option<i64>,
    /// The database of each session, empty if it has chosen none.
    databases: BTreeMap<u64, String>,
    ended: bool,
}

/// The beginning of an entry.
struct Head<'a> {
    time: Option<Time>,
    session: u64,
    command: &'a str,
    argument: &'a [u8],
}

enum Time {
    /// To the second, by the wall clock, ms.
    Second(i64),
    /// Exact, ns.
    Exact(i64),
}

impl General {
    /// The next entry; None at the end.
    ///
    /// # Errors
    /// `usage` with the line if the clock went back, or a second has too many entries; `io`.
    pub fn next(&mut self, source: &mut Source, cut_at: &mut Option<u64>) -> Result<Option<Entry>> {
        while self.ready.is_empty() && !self.ended {
            self.read(source, cut_at)?;
        }
        Ok(self.ready.pop_front())
    }

    /// Reads one entry with all its lines.
    fn read(&mut self, source: &mut Source, cut_at: &mut Option<u64>) -> Result<()> {
        let Some(place) = source.line()? else {
            self.ended = true;
            self.spread();
            return Ok(());
        };
        if is_banner(source.text()) {
            return Ok(());
        }
        let Some(head) = head(source.raw()) else {
            return Err(at(place.line, "not an entry of a general log"));
        };
        let (session, time) = (head.session, head.time);
        let command = head.command.to_owned();
        let mut argument = head.argument.to_vec();
        let mut cut = place.cut;
        loop {
            let Some(next) = source.line()? else {
                // A log that is cut after a line of a statement looks complete.
                cut |= matches!(command.as_str(), "Query" | "Execute");
                break;
            };
            if head_of(source.text()) || is_banner(source.text()) {
                source.back();
                break;
            }
            cut |= next.cut;
            argument.push(b'\n');
            argument.extend_from_slice(source.raw());
            if argument.len() as u64 > super::source::LONGEST {
                return Err(at(place.line, "the statement is too long"));
            }
        }
        if argument.ends_with(b"\r") {
            argument.pop();
        }
        self.arrive(time.as_ref(), place.line)?;
        if cut {
            *cut_at = Some(place.line);
            return Ok(());
        }
        let Some(what) = self.happened(session, &command, argument) else { return Ok(()) };
        let entry = Entry { line: place.line, at_ns: 0, session, what };
        if let Some(at_ns) = self.exact_ns {
            self.ready.push_back(Entry { at_ns, ..entry });
        } else if self.second.len() < MOST {
            self.second.push(entry);
        } else {
            return Err(at(place.line, format_args!("more than {MOST} entries in a second")));
        }
        Ok(())
    }

    /// Takes over the time of an entry; one without has the time of its predecessor.
    fn arrive(&mut self, time: Option<&Time>, line: u64) -> Result<()> {
        match time {
            None => Ok(()),
            Some(&Time::Exact(at_ns)) => {
                self.begin(at_ns);
                self.spread();
                self.exact_ns = Some(at_ns);
                Ok(())
            }
            Some(&Time::Second(wall_ms)) => {
                self.exact_ns = None;
                let mut at_ns = (wall_ms + self.added_ms) * 1_000_000;
                let before_ns = self.second_ns.unwrap_or(at_ns);
                if self.is_overtaken(at_ns, before_ns) {
                    at_ns = before_ns;
                } else if at_ns < before_ns {
                    self.added_ms += HOUR_MS;
                    at_ns += HOUR_NS;
                    if at_ns < before_ns || at_ns > before_ns + 10 * 60 * SECOND_NS {
                        return Err(at(line, "the time goes back: is it more than one log?"));
                    }
                    self.moved_ns = Some(at_ns);
                }
                if at_ns > before_ns || self.second_ns.is_none() {
                    self.begin(at_ns);
                    self.spread();
                    self.second_ns = Some(at_ns);
                }
                Ok(())
            }
        }
    }

    /// Whether the entry was written after one with a later time; it then belongs to the current
    /// second. Just after the clock went back, it may have a time from before that.
    fn is_overtaken(&self, at_ns: i64, before_ns: i64) -> bool {
        let late = |at_ns: i64| (before_ns - OVERTAKEN_NS..before_ns).contains(&at_ns);
        let moved = self.moved_ns.is_some_and(|moved_ns| before_ns <= moved_ns + OVERTAKEN_NS);
        late(at_ns) || moved && late(at_ns - HOUR_NS)
    }

    /// Entries before the first time are of the second before it. MariaDB writes no time while the
    /// second is that of the log before.
    fn begin(&mut self, at_ns: i64) {
        if !self.second.is_empty() {
            self.second_ns.get_or_insert(at_ns - SECOND_NS);
        }
    }

    /// Spreads the entries of the current second over it.
    fn spread(&mut self) {
        let (count, start_ns) = (self.second.len() as i64, self.second_ns.unwrap_or(0));
        for (number, mut entry) in self.second.drain(..).enumerate() {
            entry.at_ns = start_ns + SECOND_NS * number as i64 / count;
            self.ready.push_back(entry);
        }
    }

    fn happened(&mut self, session: u64, command: &str, argument: Vec<u8>) -> Option<What> {
        match command {
            "Connect" | "Change user" => {
                let text = String::from_utf8_lossy(&argument);
                if text.starts_with("Access denied") {
                    return Some(What::Closed);
                }
                // `user@host on database using Socket`; older servers `… as user on database`.
                let database = text.split_once(" on ").map(|(_, rest)| rest);
                let database = database.and_then(|rest| rest.split(" using ").next());
                self.set_database(session, database.unwrap_or_default());
                Some(What::Opened)
            }
            "Quit" => {
                self.databases.remove(&session);
                Some(What::Closed)
            }
            "Init DB" => {
                self.set_database(session, &String::from_utf8_lossy(&argument));
                None
            }
            "Query" | "Execute" => {
                let Ok(sql) = String::from_utf8(argument) else {
                    return Some(What::Lost(Lost::Encoding));
                };
                if sql.contains('\0') {
                    return Some(What::Lost(Lost::Encoding));
                }
                // Its statement was prepared before the log began.
                if command == "Execute" && has_marks(&sql) {
                    return Some(What::Lost(Lost::Parameters));
                }
                match aside(&sql) {
                    Some(Aside::Use(name)) => {
                        self.set_database(session, &name);
                        return None;
                    }
                    Some(Aside::Prepared) => return None,
                    None => {}
                }
                let database = self.databases.get(&session).cloned();
                if sql.contains(';')
                    && let Some(name) = last_use(&sql)
                {
                    self.set_database(session, &name);
                }
                Some(What::Ran(Ran { sql, parameters: None, took_ns: 0, database, own: false }))
            }
            _ => None,
        }
    }

    fn set_database(&mut self, session: u64, name: &str) {
        self.databases.insert(session, name.to_owned());
    }
}

/// Whether a log can begin with this line.
pub fn is_row(line: &[u8]) -> bool {
    is_banner(line) || head(line).is_some_and(|head| head.time.is_some())
}

/// What a server writes when it opens the log.
fn is_banner(line: &[u8]) -> bool {
    let contains = |word: &str| line.windows(word.len()).any(|part| part == word.as_bytes());
    (contains(", Version: ") && contains("started with:"))
        || line.starts_with(b"Tcp port: ")
        || (line.starts_with(b"Time") && line.ends_with(b"Argument"))
}

fn head_of(line: &[u8]) -> bool {
    head(line).is_some()
}

/// Commands that begin an entry, so that lines of statements rarely look like one.
const COMMANDS: [&str; 26] = [
    "Binlog Dump",
    "Binlog Dump GTID",
    "Change user",
    "Close stmt",
    "Connect",
    "Connect Out",
    "Create DB",
    "Debug",
    "Drop DB",
    "Execute",
    "Fetch",
    "Field List",
    "Init DB",
    "Kill",
    "Long Data",
    "Ping",
    "Prepare",
    "Processlist",
    "Query",
    "Quit",
    "Refresh",
    "Register Slave",
    "Reset stmt",
    "Set option",
    "Shutdown",
    "Statistics",
];

/// Splits `TIME\t  12 Query\tselect 1`; the time is empty within the same second.
fn head(line: &[u8]) -> Option<Head<'_>> {
    let tab = line.iter().take(40).position(|byte| *byte == b'\t')?;
    let stamp = std::str::from_utf8(&line[..tab]).ok()?;
    let mut rest = &line[tab + 1..];
    let time = if stamp.is_empty() {
        rest = rest.strip_prefix(b"\t")?;
        None
    } else if let Some(ms) = short_ms(stamp) {
        Some(Time::Second(ms))
    } else {
        Some(Time::Exact(iso_ns(stamp)?))
    };
    let start = rest.iter().position(|byte| *byte != b' ')?;
    rest = &rest[start..];
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let session = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
    rest = rest[digits..].strip_prefix(b" ")?;
    let end = rest.iter().take(20).position(|byte| *byte == b'\t').unwrap_or(rest.len());
    let command = std::str::from_utf8(&rest[..end]).ok()?.trim_end();
    let argument = rest.get(end + 1..).unwrap_or_default();
    COMMANDS.contains(&command).then_some(Head { time, session, command, argument })
}
