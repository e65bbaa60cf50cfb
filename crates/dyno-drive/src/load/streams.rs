//! The common part of loading a server: hands parts of tables to streams, each with one connection
//! and one thread.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use dyno_gen::{Dataset, Part};
use dyno_record::{Control, Error, ErrorKind, Result, StopOnPanic};
use tokio::runtime::{Builder, Runtime};

use super::plan::{LoadOutcome, LoadPlan, LoadedTable};
use super::{journal, tables, units};

/// Maximum number of streams.
const MOST_STREAMS: u32 = 1024;

/// How often a stream that waits for the server checks whether to stop.
const LOOK: Duration = Duration::from_millis(100);

/// A connection that loads parts of tables, one after another.
pub trait Stream: Send {
    /// Loads one part completely or not at all; returns its rows and the bytes sent.
    ///
    /// # Errors
    /// Those of the server, the generator and `stop`. The stream is then abandoned.
    fn load(&mut self, data: &Dataset, part: &Part, stop: &Stop<'_>) -> Result<(u64, u64)>;

    /// Disconnects in the middle of a part, so that the server discards its rows.
    fn abandon(self);

    /// Closes the connection.
    fn close(self);
}

/// Tells a stream when to stop.
#[derive(Debug, Clone, Copy)]
pub struct Stop<'a> {
    failed: &'a AtomicBool,
    /// Counts rows and bytes.
    pub control: &'a Control,
}

impl Stop<'_> {
    /// Fails if the load is cancelled or another stream has failed.
    ///
    /// # Errors
    /// `cancelled`.
    pub fn check(&self) -> Result<()> {
        if self.failed.load(Relaxed) {
            return Err(Error::new(ErrorKind::Cancelled, "another stream failed"));
        }
        self.control.check()
    }

    /// Waits for `work` with the server. Drops `work` in the middle if it is time to stop; the
    /// state of the connection is then unknown.
    ///
    /// # Errors
    /// Those of `work`, and `cancelled`.
    pub async fn watch<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = tokio::time::sleep(LOOK) => self.check()?,
            }
        }
    }
}

/// Creates the runtime for a stream's connection, in the loading thread.
///
/// # Errors
/// Those of the operating system.
pub fn runtime() -> Result<Runtime> {
    let built = Builder::new_current_thread().enable_all().build();
    built.map_err(|error| Error::from_io(&error, "starting a loading stream"))
}

/// Fails unless the server accepted all generated rows.
///
/// # Errors
/// `protocol`.
pub fn require_all(generated: u64, taken: u64) -> Result<()> {
    if taken == generated {
        return Ok(());
    }
    let message = format!("the server loaded {taken} of {generated} rows");
    Err(Error::new(ErrorKind::Protocol, message))
}

/// Runs a load over streams that `connect` opens, except for the parts in the journal. Each stream
/// must record its parts there, and check `stop` while it waits.
///
/// # Errors
/// See [`load`](super::load).
pub fn load<S: Stream>(
    plan: &LoadPlan,
    control: &Control,
    mut connect: impl FnMut(&Stop<'_>) -> Result<S>,
) -> Result<LoadOutcome> {
    if !(1..=MOST_STREAMS).contains(&plan.streams) {
        let message = format!("streams is {}; it must be 1 to {MOST_STREAMS}", plan.streams);
        return Err(Error::new(ErrorKind::Usage, message));
    }
    let data = Dataset::new(plan.workload, plan.scale, plan.seed)?.with_days(plan.days)?;
    let tables = tables(&data, plan.tables.as_deref())?;
    let mut rows = 0;
    for table in &tables {
        rows += data.row_count(table)?.count;
    }
    let record = plan.journal.as_ref();
    control.set_total(rows.saturating_sub(journal::rows_done(record)));
    control.set_step(format!("loading {}", plan.workload.as_str()));

    let parts = journal::remaining(units::cut(&data, &tables, plan.streams)?, record)?;
    let failed = AtomicBool::new(false);
    let work = Work {
        data: &data,
        parts: &parts,
        next: AtomicUsize::new(0),
        stop: Stop { failed: &failed, control },
        loaded: Mutex::default(),
    };
    let mut streams = Vec::new();
    for _ in 0..plan.streams.min(parts.len() as u32) {
        control.check()?;
        streams.push(connect(&work.stop)?);
    }
    let start = Instant::now();
    work.run_all(streams, start)?;
    let loaded = work.loaded.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(outcome(&tables, &loaded, start.elapsed().as_secs_f64()))
}

/// State that the streams share.
struct Work<'a> {
    data: &'a Dataset,
    parts: &'a [Part],
    /// The next part to load.
    next: AtomicUsize,
    stop: Stop<'a>,
    loaded: Mutex<Vec<Loaded>>,
}

/// A part that the database has accepted.
struct Loaded {
    table: &'static str,
    rows: u64,
    bytes: u64,
    started_s: f64,
    ended_s: f64,
}

impl Work<'_> {
    fn run_all<S: Stream>(&self, streams: Vec<S>, start: Instant) -> Result<()> {
        thread::scope(|scope| {
            let threads: Vec<_> =
                streams.into_iter().map(|stream| scope.spawn(|| self.run(stream, start))).collect();
            let mut first = Ok(());
            for thread in threads {
                // The panic's message is on standard error.
                let result = thread.join().unwrap_or_else(|_| Err(died()));
                // Return the error of the stream that failed; the others were only stopped.
                match (&first, result) {
                    (Ok(()), Err(error)) => first = Err(error),
                    (Err(seen), Err(error)) if seen.kind == ErrorKind::Cancelled => {
                        first = Err(error);
                    }
                    _ => {}
                }
            }
            first
        })
    }

    /// Loads parts until none is left. A panic stops the other streams like any failure; it drops
    /// the connection, so the server keeps nothing of the part.
    fn run<S: Stream>(&self, mut stream: S, start: Instant) -> Result<()> {
        let _stops_the_others = StopOnPanic(self.stop.failed);
        while let Some(part) = self.parts.get(self.next.fetch_add(1, Relaxed)) {
            let started_s = start.elapsed().as_secs_f64();
            let result = self.stop.check().and_then(|()| stream.load(self.data, part, &self.stop));
            match result {
                Ok((rows, bytes)) => {
                    let ended_s = start.elapsed().as_secs_f64();
                    let table = part.table.name;
                    let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
                    loaded.push(Loaded { table, rows, bytes, started_s, ended_s });
                }
                Err(error) => {
                    self.stop.failed.store(true, Relaxed);
                    stream.abandon();
                    let Part { table, index, of } = part;
                    let place = format!("loading {}, part {} of {of}", table.name, index + 1);
                    return Err(error.context(place));
                }
            }
        }
        stream.close();
        Ok(())
    }
}

fn died() -> Error {
    let message = "a load stream panicked: please report this with its message";
    Error::new(ErrorKind::Internal, message)
}

fn outcome(tables: &[&'static str], loaded: &[Loaded], seconds: f64) -> LoadOutcome {
    let tables: Vec<_> = tables
        .iter()
        .map(|table| {
            let parts = || loaded.iter().filter(|part| part.table == *table);
            let started_s = parts().map(|part| part.started_s).fold(f64::INFINITY, f64::min);
            let ended_s = parts().map(|part| part.ended_s).fold(started_s, f64::max);
            LoadedTable {
                table,
                rows: parts().map(|part| part.rows).sum(),
                bytes: parts().map(|part| part.bytes).sum(),
                // A table that was already complete has no part in this load.
                seconds: if ended_s.is_finite() { ended_s - started_s } else { 0.0 },
            }
        })
        .collect();
    let rows = tables.iter().map(|table| table.rows).sum();
    let bytes = tables.iter().map(|table| table.bytes).sum();
    LoadOutcome { tables, seconds, rows, bytes }
}

#[cfg(test)]
#[path = "streams_tests.rs"]
mod tests;
