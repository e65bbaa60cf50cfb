//! Loads PostgreSQL by binary `COPY`, one connection and one thread a stream.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Instant;

use dyno_gen::sink::PgCopySink;
use dyno_gen::{Dataset, Part};
use dyno_record::{Control, Error, ErrorKind, Result};
use tokio::runtime::Runtime;

use super::plan::{Journal, LoadOutcome, LoadPlan, LoadedTable};
use super::{journal, tables, units};
use crate::wire::postgres::{Config, CopyIn, quoted};

/// More streams than this help nobody.
const MOST_STREAMS: u32 = 1024;

/// See [`load`](super::load).
pub fn load(plan: &LoadPlan, config: &Config, control: &Control) -> Result<LoadOutcome> {
    if !(1..=MOST_STREAMS).contains(&plan.streams) {
        let message = format!("streams is {}; it must be 1 to {MOST_STREAMS}", plan.streams);
        return Err(Error::new(ErrorKind::Usage, message));
    }
    let data = Dataset::new(plan.workload, plan.scale, plan.seed)?;
    let tables = tables(&data, plan.tables.as_deref())?;
    let mut rows = 0;
    for table in &tables {
        rows += data.row_count(table)?.count;
    }
    let record = plan.journal.as_ref();
    control.set_total(rows.saturating_sub(journal::rows_done(record)));
    control.set_step(format!("loading {}", plan.workload.as_str()));

    let parts = journal::remaining(units::cut(&data, &tables, plan.streams)?, record)?;
    let work = Work {
        data: &data,
        parts: &parts,
        journal: record,
        next: AtomicUsize::new(0),
        failed: AtomicBool::new(false),
        control,
        loaded: Mutex::default(),
    };
    let streams = work.connect(config, plan.streams)?;
    let start = Instant::now();
    thread::scope(|scope| {
        let threads: Vec<_> =
            streams.into_iter().map(|stream| scope.spawn(|| work.run(stream, start))).collect();
        let mut first = Ok(());
        for thread in threads {
            let result = thread
                .join()
                .unwrap_or_else(|_| Err(Error::new(ErrorKind::Internal, "a loading stream died")));
            // The stream that failed says why; the others only that they were stopped.
            match (&first, result) {
                (Ok(()), Err(error)) => first = Err(error),
                (Err(seen), Err(error)) if seen.kind == ErrorKind::Cancelled => first = Err(error),
                _ => {}
            }
        }
        first
    })?;
    let loaded = work.loaded.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(outcome(&tables, &loaded, start.elapsed().as_secs_f64()))
}

/// What the streams share.
struct Work<'a> {
    data: &'a Dataset,
    parts: &'a [Part],
    journal: Option<&'a Journal>,
    /// The part to be taken next.
    next: AtomicUsize,
    failed: AtomicBool,
    control: &'a Control,
    loaded: Mutex<Vec<Loaded>>,
}

/// A part that the database has taken.
struct Loaded {
    table: &'static str,
    rows: u64,
    bytes: u64,
    started_s: f64,
    ended_s: f64,
}

/// A connection and the runtime that serves it.
struct Stream {
    runtime: Runtime,
    copy: CopyIn,
}

impl Work<'_> {
    fn connect(&self, config: &Config, streams: u32) -> Result<Vec<Stream>> {
        (0..streams.min(self.parts.len() as u32))
            .map(|_| {
                self.control.check()?;
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .map_err(|error| Error::from_io(&error, "starting a loading stream"))?;
                let copy = runtime.block_on(CopyIn::connect(config))?;
                Ok(Stream { runtime, copy })
            })
            .collect()
    }

    /// Loads part after part until there are no more.
    fn run(&self, mut stream: Stream, start: Instant) -> Result<()> {
        while let Some(part) = self.parts.get(self.next.fetch_add(1, Relaxed)) {
            let started_s = start.elapsed().as_secs_f64();
            match self.load_part(&mut stream, part) {
                Ok((rows, bytes)) => {
                    let ended_s = start.elapsed().as_secs_f64();
                    let table = part.table.name;
                    let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
                    loaded.push(Loaded { table, rows, bytes, started_s, ended_s });
                }
                Err(error) => {
                    self.failed.store(true, Relaxed);
                    stream.runtime.block_on(stream.copy.abandon());
                    let Part { table, index, of } = part;
                    return Err(error.context(format!(
                        "loading {}, part {} of {of}",
                        table.name,
                        index + 1
                    )));
                }
            }
        }
        stream.runtime.block_on(stream.copy.close());
        Ok(())
    }

    /// Loads one part in one transaction; returns its rows and bytes.
    fn load_part(&self, stream: &mut Stream, part: &Part) -> Result<(u64, u64)> {
        self.check()?;
        let Stream { runtime, copy } = stream;
        if self.journal.is_some() {
            runtime.block_on(copy.execute("begin"))?;
        }
        runtime.block_on(copy.start(&statement(part)))?;
        let mut sink = PgCopySink::new(part.table.columns.len(), |chunk: &[u8]| {
            self.check()?;
            runtime.block_on(copy.data(chunk))
        });
        let generated = self.data.write(part, &mut sink, self.control)?;
        let bytes = sink.finish()?;
        let taken = runtime.block_on(copy.finish())?;
        if taken != generated {
            let message = format!("the server took {taken} of {generated} rows");
            return Err(Error::new(ErrorKind::Protocol, message));
        }
        if let Some(journal) = self.journal {
            let record = journal::record(&quoted(&journal.table), part, taken);
            runtime.block_on(copy.execute(&format!("{record}; commit")))?;
        }
        Ok((taken, bytes))
    }

    fn check(&self) -> Result<()> {
        if self.failed.load(Relaxed) {
            return Err(Error::new(ErrorKind::Cancelled, "another stream failed"));
        }
        self.control.check()
    }
}

fn statement(part: &Part) -> String {
    let columns: Vec<_> = part.table.columns.iter().map(|column| quoted(column.name)).collect();
    let (table, columns) = (quoted(part.table.name), columns.join(", "));
    format!("copy {table} ({columns}) from stdin (format binary)")
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
                // A table that was whole already has no part in this load.
                seconds: if ended_s.is_finite() { ended_s - started_s } else { 0.0 },
            }
        })
        .collect();
    let rows = tables.iter().map(|table| table.rows).sum();
    let bytes = tables.iter().map(|table| table.bytes).sum();
    LoadOutcome { tables, seconds, rows, bytes }
}
