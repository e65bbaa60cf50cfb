//! Replays a server's log: each session in a connection of its own, its statements in order, at
//! their original times. [`scan`] reads a log once and says what it holds; [`replay`] reads it again
//! while it drives, so that no log is ever in memory.
//!
//! ```text
//! log ─► Entries ─► Chosen ─► feed ─► a queue per session ─► a connection per session
//! ```

mod chosen;
mod feed;
mod hand;
mod log;
mod plan;
mod scan;
mod session;
mod shape;
mod sql;

use std::sync::atomic::AtomicU32;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;

use dyno_record::{Control, Error, ErrorKind, Result, Spool};
use tokio::sync::mpsc::unbounded_channel;

use crate::aggregator::Aggregator;
use crate::outcome::Outcome;
use crate::plan::WirePlan;
use crate::run::{Course, Signals, conducted};
use crate::wire::mysql::Mysql;
use crate::wire::null::Null;
use crate::wire::postgres::Postgres;
use crate::wire::{Dialect, Verbatim, Wire};
use feed::{Budget, Feed};
use hand::{Hand, Reading};
pub use plan::{ReplayPlan, ScanPlan};
pub use scan::{Scan, scan};
#[cfg(test)]
pub(crate) use session::Server;
pub use shape::{Shapes, shapes};

/// From the connection of all threads to the start: time for the first sessions to connect.
const LEAD_NS: u64 = 1_000_000_000;
/// How long statements may take after the last one was due.
const DRAIN_S: f64 = 60.0;

/// Replays a log. On `control`, `done` and `total` count milliseconds; `finish` ends the replay with
/// the current interval.
///
/// # Errors
/// `usage` for an invalid plan or a damaged log, with the line; connection errors;
/// `connection_lost` if the server does not come back; `cancelled`; `io` or `disk_full` of the
/// spool. Intervals that closed before are in the spool in any case.
pub fn replay(plan: &ReplayPlan, control: &Control) -> Result<Outcome> {
    plan.validate()?;
    match &plan.wire {
        WirePlan::Postgres(config) => over(plan, &Postgres::new(config.clone())?, control),
        WirePlan::Mysql(config) => over(plan, &Mysql::new(config.clone())?, control),
        WirePlan::Null(model) => over(plan, &Null::new(model), control),
        WirePlan::Sqlite(_) => {
            Err(Error::new(ErrorKind::Usage, "SQLite has no server whose log could be replayed"))
        }
        WirePlan::Mssql(_) => {
            Err(Error::new(ErrorKind::Usage, "logs of SQL Server are not supported"))
        }
    }
}

fn over<W: Wire<Session: Verbatim>>(
    plan: &ReplayPlan,
    wire: &W,
    control: &Control,
) -> Result<Outcome> {
    let chosen = plan.select.chosen()?;
    if matches!(plan.wire, WirePlan::Postgres(_) | WirePlan::Mysql(_))
        && chosen.dialect() != W::DIALECT
    {
        let message = "the log is of another product than the target";
        return Err(Error::new(ErrorKind::Usage, message));
    }
    let threads = plan.thread_count();
    let course = Course {
        users: u64::from(plan.sessions),
        shown: match plan.sessions {
            1 => "1 session".to_owned(),
            more => format!("{more} sessions"),
        },
        open: true,
        warmup_s: 0.0,
        duration_s: plan.duration_s + DRAIN_S,
        interval_s: plan.interval_s,
        lead_ns: LEAD_NS,
        drain_s: DRAIN_S,
    };
    let spool = Spool::open(&plan.spool)?;
    // Once a replay: the spool and the outcome refer to the names.
    let names: &'static [&'static str] = plan.operations.clone().leak_all();
    let aggregator = Aggregator::new(names, plan.clock, spool, threads);
    let budget = Arc::new(Budget::default());
    let working = AtomicU32::new(threads);
    let (queues, ends): (Vec<_>, Vec<_>) = (0..threads)
        .map(|_| {
            let (queue, end) = unbounded_channel();
            (queue, Some(end))
        })
        .unzip();
    let (begin, start) = mpsc::channel();
    let (found, first) = mpsc::channel();
    let reading = Mutex::new(Some(Reading { found: first, begin }));
    let ends = Mutex::new(ends);
    thread::scope(|scope| {
        let feed =
            Feed { plan, chosen, budget: Arc::clone(&budget), queues, control, found, start };
        let feeder = scope.spawn(move || feed.run());
        let job = |thread: u32, signals: &Signals, out, go| {
            let items = ends.lock().ok().and_then(|mut ends| ends[thread as usize].take());
            let reading = reading.lock().ok().and_then(|mut reading| reading.take());
            let Some(items) = items else { return };
            let (wire, budget) = (wire.clone(), Arc::clone(&budget));
            Hand {
                plan,
                wire,
                control,
                signals,
                out,
                go,
                items,
                reading,
                working: &working,
                budget,
            }
            .run();
        };
        let mut outcome = conducted(&course, threads, &job, aggregator, control, &|| None);
        // The user ends a replay by `finish`, and so does its last statement.
        if let Ok(outcome) = &mut outcome
            && !control.is_finishing()
        {
            outcome.never_due(plan.statements);
        }
        // Without threads, nobody takes what it reads.
        budget.close();
        drop(reading.lock().ok().and_then(|mut reading| reading.take()));
        let read = feeder.join().unwrap_or_else(|_| Err(crate::thread::died()));
        read.and(outcome)
    })
}

/// Makes names live as long as the process.
trait Leak {
    fn leak_all(self) -> &'static [&'static str];
}

impl Leak for Vec<String> {
    fn leak_all(self) -> &'static [&'static str] {
        let names: Vec<&'static str> =
            self.into_iter().map(|name| &*Box::leak(name.into_boxed_str())).collect();
        Box::leak(names.into_boxed_slice())
    }
}

/// The dialect of a log.
const fn dialect_of(format: log::Format) -> Dialect {
    match format {
        log::Format::PostgresCsv | log::Format::PostgresJson => Dialect::Postgres,
        log::Format::General => Dialect::Mysql,
    }
}

#[cfg(test)]
mod tests;
