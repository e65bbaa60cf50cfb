//! The transactions of a log: which statements follow one another between BEGIN and COMMIT, and how
//! often. In sessions that turn `autocommit` off, each COMMIT or ROLLBACK begins the next one. An
//! example of each is kept, with its values.

use std::collections::{BTreeMap, HashMap, HashSet};

use dyno_record::{Control, Result};
use serde::Serialize;

use super::chosen::{Found, Reason};
use super::log::{Format, Ran};
use super::plan::{ScanPlan, Selection};
use super::sql::{Kind, autocommit};

/// Maximum different transactions, and statements of one.
const MOST_SHAPES: usize = 10_000;
const LONGEST: usize = 200;
/// Maximum length of an example's statement, and of all of them.
const LONGEST_SQL: usize = 65_536;
const MOST_BYTES: usize = 64 << 20;
/// Statements between two looks at the control.
const CHECK: u64 = 4_096;

/// The transactions of a log.
#[derive(Debug, Serialize)]
pub struct Shapes {
    /// The log's format.
    pub format: Format,
    /// The transactions, the most frequent first.
    pub transactions: Vec<Transaction>,
    /// Transactions that were rolled back: how many, and the line of the first one.
    pub rolled_back: (u64, u64),
    /// Transactions that are too long or one of too many, in the same way.
    pub unshaped: (u64, u64),
    /// Statements of sessions whose database the log does not show, in the same way.
    pub unknown: (u64, u64),
    /// Statements that are left out, in the same way.
    pub left_out: BTreeMap<Reason, (u64, u64)>,
}

/// A transaction.
#[derive(Debug, Serialize)]
pub struct Transaction {
    /// How often the log has it.
    pub count: u64,
    /// The line of the first one.
    pub line: u64,
    /// Whether it is between BEGIN and COMMIT.
    pub explicit: bool,
    /// Its statements.
    pub statements: Vec<Example>,
}

/// A statement of a transaction, as it was the first time.
#[derive(Debug, Clone, Serialize)]
pub struct Example {
    /// Its text without literals.
    pub text: String,
    /// Its text.
    pub sql: String,
    /// Values of `$1`, `$2` …
    pub parameters: Option<Vec<Option<String>>>,
    /// What it does.
    pub kind: Kind,
    /// How often it was run in a row, in all of these transactions.
    pub runs: u64,
}

/// A transaction that is open in a session.
#[derive(Default)]
struct Open {
    line: u64,
    classes: Vec<u64>,
    examples: Vec<Example>,
    long: bool,
}

/// Reads a log. On `control`, `bytes` counts bytes.
///
/// # Errors
/// As [`scan`](super::scan()).
pub fn shapes(plan: &ScanPlan, control: &Control) -> Result<Shapes> {
    // Nothing is run, and such a statement may turn `autocommit` off, too.
    let mut chosen = Selection { pinned: true, ..plan.select.clone() }.chosen()?;
    control.set_step("reading the log".to_owned());
    let begin_commits = chosen.entries.format() == Format::General;
    let mut found = Counts { begin_commits, ..Counts::default() };
    let (mut turn, mut counted) = (0, 0);
    while let Some(next) = chosen.next()? {
        turn += 1;
        if turn % CHECK == 0 {
            control.check()?;
            let bytes = chosen.entries.bytes();
            control.add(bytes - counted, bytes - counted);
            counted = bytes;
        }
        match next {
            Found::Nothing => {}
            Found::Left { line, reason } => {
                count(found.left_out.entry(reason).or_default(), line);
            }
            Found::End { session, .. } => {
                found.roll_back(session);
                found.manual.remove(&session);
            }
            Found::Run { line, session, ran, class, .. } => {
                if ran.database.is_none() {
                    count(&mut found.unknown, line);
                }
                found.add(line, session, ran, class, chosen.class());
            }
        }
    }
    let mut transactions: Vec<_> = found.shapes.into_values().collect();
    transactions.sort_by(|a, b| b.count.cmp(&a.count).then(a.line.cmp(&b.line)));
    Ok(Shapes {
        format: chosen.entries.format(),
        transactions,
        rolled_back: found.rolled_back,
        unshaped: found.unshaped,
        unknown: found.unknown,
        left_out: found.left_out,
    })
}

/// What was found so far.
#[derive(Default)]
struct Counts {
    shapes: HashMap<(bool, Vec<u64>), Transaction>,
    open: HashMap<u64, Open>,
    /// Sessions whose `autocommit` is off.
    manual: HashSet<u64>,
    /// Whether BEGIN commits an open transaction.
    begin_commits: bool,
    bytes: usize,
    rolled_back: (u64, u64),
    unshaped: (u64, u64),
    unknown: (u64, u64),
    left_out: BTreeMap<Reason, (u64, u64)>,
}

/// Counts one more, and keeps the line of the first.
const fn count((many, first): &mut (u64, u64), line: u64) {
    if *many == 0 {
        *first = line;
    }
    *many += 1;
}

impl Counts {
    fn add(&mut self, line: u64, session: u64, ran: Ran, class: (Kind, u64), text: &str) {
        let (kind, hash) = class;
        match kind {
            Kind::Session | Kind::Pinned => {
                if let Some(on) = autocommit(text, &ran.sql) {
                    self.set_autocommit(session, on);
                }
            }
            Kind::Control => match text.split_whitespace().next() {
                Some("begin" | "start") => {
                    // MariaDB and MySQL commit an open transaction; PostgreSQL warns, and goes on.
                    if self.begin_commits {
                        self.commit(session);
                    }
                    self.open.entry(session).or_insert_with(|| Open { line, ..Open::default() });
                }
                Some("commit" | "end") => self.commit(session),
                Some("rollback" | "abort") if !text.contains(" to ") => self.roll_back(session),
                _ => {} // a savepoint
            },
            Kind::Read | Kind::Write | Kind::Ddl | Kind::Never => {
                if text.is_empty() {
                    return;
                }
                let example = Example {
                    text: text.to_owned(),
                    sql: ran.sql,
                    parameters: ran.parameters,
                    kind,
                    runs: 1,
                };
                if self.manual.contains(&session) {
                    let open = || Open { line, ..Open::default() };
                    self.open.entry(session).or_insert_with(open).add(hash, example);
                } else if let Some(open) = self.open.get_mut(&session) {
                    open.add(hash, example);
                } else {
                    let mut alone = Open { line, ..Open::default() };
                    alone.add(hash, example);
                    self.ended(alone, false);
                }
            }
        }
    }

    fn set_autocommit(&mut self, session: u64, on: bool) {
        if !on {
            self.manual.insert(session);
        } else if self.manual.remove(&session) {
            self.commit(session);
        }
    }

    fn commit(&mut self, session: u64) {
        if let Some(open) = self.open.remove(&session) {
            self.ended(open, true);
        }
    }

    /// Pools of connections end reads with ROLLBACK where `autocommit` is off: these count.
    fn roll_back(&mut self, session: u64) {
        let Some(open) = self.open.remove(&session) else { return };
        let reads = open.examples.iter().all(|example| example.kind == Kind::Read);
        if reads && !open.long && self.manual.contains(&session) {
            self.ended(open, true);
        } else {
            count(&mut self.rolled_back, open.line);
        }
    }

    fn ended(&mut self, open: Open, explicit: bool) {
        if open.classes.is_empty() {
            return;
        }
        let key = (explicit, open.classes);
        if let (false, Some(known)) = (open.long, self.shapes.get_mut(&key)) {
            known.count += 1;
            for (known, now) in known.statements.iter_mut().zip(&open.examples) {
                known.runs += now.runs;
            }
            return;
        }
        let bytes: usize = open.examples.iter().map(|one| one.sql.len() + one.text.len()).sum();
        if open.long || self.shapes.len() >= MOST_SHAPES || self.bytes + bytes > MOST_BYTES {
            count(&mut self.unshaped, open.line);
            return;
        }
        self.bytes += bytes;
        let (count, line, statements) = (1, open.line, open.examples);
        self.shapes.insert(key, Transaction { count, line, explicit, statements });
    }
}

impl Open {
    fn add(&mut self, class: u64, example: Example) {
        if self.classes.last() == Some(&class) {
            if let Some(last) = self.examples.last_mut() {
                last.runs += 1;
            }
        } else if self.classes.len() < LONGEST && example.sql.len() <= LONGEST_SQL {
            self.classes.push(class);
            self.examples.push(example);
        } else {
            self.long = true;
        }
    }
}
