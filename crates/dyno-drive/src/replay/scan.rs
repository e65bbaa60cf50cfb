//! What a log holds: read once, in bounded memory.

use std::collections::{BTreeMap, HashMap};

use dyno_record::{Control, Error, ErrorKind, Result};
use serde::Serialize;

use super::chosen::{Found, Reason};
use super::log::{FileId, Format};
use super::plan::ScanPlan;
use super::sql::Kind;

/// Maximum number of classes.
const MOST_CLASSES: usize = 10_000;
/// Maximum sessions of a log, and of those whose end it lacks.
const MOST_SESSIONS: usize = 2_000_000;
const MOST_OPEN: usize = 200_000;
/// Statements between two looks at the control.
const CHECK: u64 = 4_096;

/// What a log holds.
#[derive(Debug, Serialize)]
pub struct Scan {
    /// Its format.
    pub format: Format,
    /// Its size.
    pub bytes: u64,
    /// Its file.
    pub file: Option<FileId>,
    /// Lines before the first record: the log begins in the middle of one.
    pub cut_before: u64,
    /// The line of the last record, if it is cut.
    pub cut_at: Option<u64>,
    /// The log's time at its first statement to replay, ns: what began before is sent then.
    pub first_ns: Option<i64>,
    /// When the last statement to replay was sent, ns; not before `first_ns`.
    pub last_ns: Option<i64>,
    /// How long its longest statement took, if it has that, s.
    pub longest_s: f64,
    /// Sessions with statements to replay.
    pub sessions: u64,
    /// Most of them at once.
    pub at_once: u64,
    /// Statements to replay.
    pub statements: u64,
    /// The same by what they do.
    pub kinds: BTreeMap<Kind, u64>,
    /// Statements that are left out: how many, and the line of the first one.
    pub left_out: BTreeMap<Reason, (u64, u64)>,
    /// Statements to replay by database, where known.
    pub databases: BTreeMap<String, u64>,
    /// Statements to replay of sessions whose database the log does not show.
    pub unknown: u64,
    /// Classes of statements to replay, the most frequent first.
    pub classes: Vec<Class>,
    /// Statements of further classes.
    pub unclassed: u64,
    /// The line of the last statement of sessions whose end is not in the log.
    pub ends: BTreeMap<u64, u64>,
}

/// Statements that differ in literals only.
#[derive(Debug, Clone, Serialize)]
pub struct Class {
    /// The hash of its text, in hexadecimal digits.
    #[serde(rename = "class")]
    pub hash: String,
    /// Its text, cut if it is long.
    pub text: String,
    /// What it does.
    pub kind: Kind,
    /// Its statements.
    pub count: u64,
    /// The line of the first one.
    pub line: u64,
}

/// A session that is open.
struct Open {
    first: u64,
    last: u64,
}

/// Reads a log. On `control`, `bytes` counts bytes.
///
/// # Errors
/// `usage` if it is not a log, with the line of a fault; `cancelled`; `io`.
pub fn scan(plan: &ScanPlan, control: &Control) -> Result<Scan> {
    let mut chosen = plan.select.chosen()?;
    control.set_step("reading the log".to_owned());
    let mut found = Counted::default();
    let mut turn = 0;
    let mut counted = 0;
    while let Some(next) = chosen.next()? {
        turn += 1;
        if turn % CHECK == 0 {
            control.check()?;
            let bytes = chosen.entries.bytes();
            control.add(bytes - counted, bytes - counted);
            counted = bytes;
        }
        found.add(next, chosen.class())?;
    }
    let Counted { mut scan, open, mut spans, classes } = found;
    scan.format = chosen.entries.format();
    scan.bytes = chosen.entries.bytes();
    scan.file = chosen.entries.file;
    scan.cut_before = chosen.entries.cut_before;
    scan.cut_at = chosen.entries.cut_at;
    scan.first_ns = chosen.first_ns;
    scan.last_ns = scan.last_ns.max(scan.first_ns);
    if open.len() > MOST_OPEN {
        return Err(too_many(MOST_OPEN, "without an end in the log: set log_disconnections = on"));
    }
    scan.ends = open.iter().map(|(session, open)| (*session, open.last)).collect();
    spans.extend(open.into_values().map(|open| (open.first, open.last)));
    scan.sessions = spans.len() as u64;
    scan.at_once = at_once(&spans);
    scan.classes = classes.into_values().collect();
    scan.classes.sort_by(|a, b| b.count.cmp(&a.count).then(a.line.cmp(&b.line)));
    Ok(scan)
}

/// What was counted so far.
struct Counted {
    scan: Scan,
    open: HashMap<u64, Open>,
    /// First and last line of sessions that ended.
    spans: Vec<(u64, u64)>,
    classes: HashMap<u64, Class>,
}

impl Default for Counted {
    fn default() -> Self {
        let scan = Scan {
            format: Format::General,
            bytes: 0,
            file: None,
            cut_before: 0,
            cut_at: None,
            first_ns: None,
            last_ns: None,
            longest_s: 0.0,
            sessions: 0,
            at_once: 0,
            statements: 0,
            kinds: BTreeMap::new(),
            left_out: BTreeMap::new(),
            databases: BTreeMap::new(),
            unknown: 0,
            classes: Vec::new(),
            unclassed: 0,
            ends: BTreeMap::new(),
        };
        Self { scan, open: HashMap::new(), spans: Vec::new(), classes: HashMap::new() }
    }
}

impl Counted {
    fn add(&mut self, found: Found, text: &str) -> Result<()> {
        let scan = &mut self.scan;
        match found {
            Found::Nothing => {}
            Found::Left { line, reason } => {
                scan.left_out.entry(reason).or_insert((0, line)).0 += 1;
            }
            Found::End { line, session, .. } => {
                if let Some(open) = self.open.remove(&session) {
                    self.spans.push((open.first, line));
                }
            }
            Found::Run { line, at_ns, session, ran, class: (kind, hash) } => {
                scan.statements += 1;
                scan.last_ns = scan.last_ns.max(Some(at_ns));
                scan.longest_s = scan.longest_s.max(ran.took_ns as f64 / 1e9);
                *scan.kinds.entry(kind).or_default() += 1;
                scan.unknown += u64::from(ran.database.is_none());
                if let Some(database) = ran.database
                    && !database.is_empty()
                    && (scan.databases.len() < 1_000 || scan.databases.contains_key(&database))
                {
                    *scan.databases.entry(database).or_default() += 1;
                }
                self.open.entry(session).or_insert(Open { first: line, last: line }).last = line;
                if self.open.len() + self.spans.len() > MOST_SESSIONS {
                    return Err(too_many(MOST_SESSIONS, "in the log: use --for"));
                }
                if let Some(class) = self.classes.get_mut(&hash) {
                    class.count += 1;
                } else {
                    if self.classes.len() == MOST_CLASSES {
                        scan.unclassed += drop_rarest(&mut self.classes);
                    }
                    let class = format!("{hash:016x}");
                    let text = text.to_owned();
                    self.classes.insert(hash, Class { hash: class, text, kind, count: 1, line });
                }
            }
        }
        Ok(())
    }
}

/// Drops the rarest classes, at least half of them; returns the number of their statements. A class
/// that becomes frequent later is counted from then on.
fn drop_rarest(classes: &mut HashMap<u64, Class>) -> u64 {
    let mut counts: Vec<_> = classes.values().map(|class| class.count).collect();
    let middle = counts.len() / 2;
    let (_, most, _) = counts.select_nth_unstable(middle);
    let most = *most;
    let rare = classes.extract_if(|_, class| class.count <= most);
    rare.map(|(_, class)| class.count).sum()
}

fn too_many(most: usize, what: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("more than {most} sessions {what}"))
}

/// The most of these spans of lines that contain the same line.
fn at_once(spans: &[(u64, u64)]) -> u64 {
    let mut starts: Vec<_> = spans.iter().map(|span| span.0).collect();
    let mut ends: Vec<_> = spans.iter().map(|span| span.1).collect();
    starts.sort_unstable();
    ends.sort_unstable();
    let (mut open, mut most, mut ended) = (0u64, 0, 0);
    for start in starts {
        while ends[ended] < start {
            ended += 1;
            open -= 1;
        }
        open += 1;
        most = most.max(open);
    }
    most
}
