//! Loads PostgreSQL by binary `COPY`. Each stream has one connection and one thread.

use dyno_gen::sink::PgCopySink;
use dyno_gen::{Dataset, Part};
use dyno_record::{Control, Result};
use tokio::runtime::Runtime;

use super::journal;
use super::plan::{Journal, LoadOutcome, LoadPlan};
use super::streams::{self, Stop};
use crate::wire::postgres::{Config, CopyIn, Postgres};
use crate::wire::quoted;

/// See [`load`](super::load). Each part is one transaction, which includes its journal entry.
pub fn load(plan: &LoadPlan, config: &Config, control: &Control) -> Result<LoadOutcome> {
    let server = Postgres::new(config.clone())?;
    streams::load(plan, control, |stop| Stream::connect(&server, plan.journal.as_ref(), stop))
}

/// A connection and its runtime.
struct Stream<'a> {
    runtime: Runtime,
    copy: CopyIn,
    journal: Option<&'a Journal>,
}

impl<'a> Stream<'a> {
    fn connect(server: &Postgres, journal: Option<&'a Journal>, stop: &Stop<'_>) -> Result<Self> {
        let runtime = streams::runtime()?;
        let copy = runtime.block_on(stop.watch(CopyIn::connect(server)))?;
        Ok(Self { runtime, copy, journal })
    }
}

impl streams::Stream for Stream<'_> {
    fn load(&mut self, data: &Dataset, part: &Part, stop: &Stop<'_>) -> Result<(u64, u64)> {
        let Self { runtime, copy, journal } = self;
        if journal.is_some() {
            runtime.block_on(stop.watch(copy.execute("begin")))?;
        }
        runtime.block_on(stop.watch(copy.start(&statement(part))))?;
        let mut sink = PgCopySink::new(part.table.columns.len(), |chunk: &[u8]| {
            stop.check()?;
            runtime.block_on(stop.watch(copy.data(chunk)))
        });
        let generated = data.write(part, &mut sink, stop.control)?;
        let bytes = sink.finish()?;
        let taken = runtime.block_on(stop.watch(copy.finish()))?;
        streams::require_all(generated, taken)?;
        if let Some(journal) = journal {
            let record = journal::record(&quoted(&journal.table), part, taken);
            let last = format!("{record}; commit");
            runtime.block_on(stop.watch(copy.execute(&last)))?;
        }
        Ok((taken, bytes))
    }

    fn abandon(self) {
        self.runtime.block_on(self.copy.abandon());
    }

    fn close(self) {
        self.runtime.block_on(self.copy.close());
    }
}

fn statement(part: &Part) -> String {
    let columns: Vec<_> = part.table.columns.iter().map(|column| quoted(column.name)).collect();
    let (table, columns) = (quoted(part.table.name), columns.join(", "));
    format!("copy {table} ({columns}) from stdin (format binary)")
}
