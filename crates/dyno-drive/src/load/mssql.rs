//! Loads SQL Server by `INSERT BULK`: the rows of a bulk copy, generated while the server reads
//! them. Each stream has one connection and two threads, one that generates and one that sends.
//!
//! A part is one batch, and one transaction with its journal entry. The table lock (TABLOCK) lets
//! several streams load a heap side by side with little logging. On a clustered index it would let
//! one stream at a time, so there it is taken only by a table that is loaded in one part.

use std::collections::HashMap;
use std::thread;

use bytes::Bytes;
use dyno_gen::sink::{TdsColumn, TdsRowSink};
use dyno_gen::{Dataset, Part};
use dyno_record::{Control, Error, ErrorKind, Result};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use super::journal;
use super::plan::{LoadOutcome, LoadPlan};
use super::streams::{self, Stop};
use crate::wire::mssql::{Config, Endpoint, Field, Loader, quoted};

/// Chunks queued for sending, so that generating and sending overlap in bounded memory.
const CHUNKS_AHEAD: usize = 4;

/// See [`load`](super::load). Each part is one transaction.
pub fn load(plan: &LoadPlan, config: &Config, control: &Control) -> Result<LoadOutcome> {
    let journal = plan.journal.as_ref().map(|journal| quoted(&journal.table));
    let endpoint = Endpoint::new(config.clone())?;
    streams::load(plan, control, |stop| Stream::connect(&endpoint, journal.clone(), stop))
}

/// A connection and its runtime.
struct Stream {
    runtime: Runtime,
    connection: Loader,
    /// Quoted name of the journal table.
    journal: Option<String>,
    /// What is known about the tables.
    tables: HashMap<&'static str, Table>,
}

/// A table as the server has it.
struct Table {
    fields: Vec<Field>,
    /// Whether rows are stored in the order of an index.
    clustered: bool,
}

impl Stream {
    fn connect(endpoint: &Endpoint, journal: Option<String>, stop: &Stop<'_>) -> Result<Self> {
        let runtime = streams::runtime()?;
        let connection = runtime.block_on(stop.watch(Loader::connect(endpoint)))?;
        Ok(Self { runtime, connection, journal, tables: HashMap::new() })
    }

    /// Runs a statement; stops when `stop` does.
    fn run(&mut self, statement: &str, stop: &Stop<'_>) -> Result<()> {
        let Self { runtime, connection, .. } = self;
        runtime.block_on(stop.watch(connection.run(statement))).map(drop)
    }

    /// Asks the server for a table's columns, once.
    fn describe(&mut self, part: &Part, stop: &Stop<'_>) -> Result<()> {
        let Self { runtime, connection, tables, .. } = self;
        let name = part.table.name;
        if !tables.contains_key(name) {
            let columns: Vec<_> = part.table.columns.iter().map(|column| column.name).collect();
            let described = connection.describe(name, &columns);
            let (fields, clustered) = runtime.block_on(stop.watch(described))?;
            tables.insert(name, Table { fields, clustered });
        }
        Ok(())
    }
}

impl streams::Stream for Stream {
    fn load(&mut self, data: &Dataset, part: &Part, stop: &Stop<'_>) -> Result<(u64, u64)> {
        self.describe(part, stop)?;
        self.run("begin transaction", stop)?;
        let Self { runtime, connection, tables, .. } = self;
        let Some(table) = tables.get(part.table.name) else {
            return Err(Error::new(ErrorKind::Internal, "the table was not described"));
        };
        let columns: Vec<TdsColumn> = table.fields.iter().map(|field| field.form).collect();
        let (send, receive) = mpsc::channel(CHUNKS_AHEAD);
        let (generated, taken) = thread::scope(|scope| {
            let generator = scope.spawn(move || {
                // Dropping it, after the last row or earlier, ends the rows.
                let send = send;
                generate(data, part, &columns, stop, &send)
            });
            let statement = statement(part, table);
            // The receiver is gone in any case, so the generator does not wait.
            let loading = connection.load(&statement, &table.fields, receive);
            let taken = runtime.block_on(stop.watch(loading));
            let dead = || Err(Error::new(ErrorKind::Internal, "the generating thread panicked"));
            (generator.join().unwrap_or_else(|_| dead()), taken)
        });
        let ((rows, bytes), taken) = match (generated, taken) {
            (Ok(counts), Ok(taken)) => (counts, taken),
            // If the generator lost its reader, the server's error has the cause.
            (Err(error), Err(told)) if error.kind == ErrorKind::ConnectionLost => return Err(told),
            (Err(error), _) | (Ok(_), Err(error)) => return Err(error),
        };
        streams::require_all(rows, taken)?;
        if let Some(table) = &self.journal {
            let record = journal::record(table, part, taken);
            self.run(&record, stop)?;
        }
        self.run("commit", stop)?;
        Ok((rows, bytes))
    }

    fn abandon(self) {
        // The server rolls back the open transaction of a broken connection.
        self.close();
    }

    fn close(self) {
        // The protocol has no message for it: the server sees the end of the connection.
        let Self { runtime, connection, .. } = self;
        drop(connection);
        drop(runtime);
    }
}

/// Generates a part into chunks; returns rows and bytes.
fn generate(
    data: &Dataset,
    part: &Part,
    columns: &[TdsColumn],
    stop: &Stop<'_>,
    send: &mpsc::Sender<Bytes>,
) -> Result<(u64, u64)> {
    let mut sink = TdsRowSink::new(columns, |chunk: &[u8]| {
        stop.check()?;
        send.blocking_send(Bytes::copy_from_slice(chunk))
            .map_err(|_| Error::new(ErrorKind::ConnectionLost, "nothing consumes the rows"))
    });
    let rows = data.write(part, &mut sink, stop.control)?;
    Ok((rows, sink.finish()?))
}

fn statement(part: &Part, table: &Table) -> String {
    let column = |field: &Field| format!("{} {}", quoted(&field.name), field.sql);
    let columns: Vec<_> = table.fields.iter().map(column).collect();
    let lock = if table.clustered && part.of > 1 { "" } else { " with (tablock)" };
    format!("insert bulk {} ({}){lock}", quoted(part.table.name), columns.join(", "))
}
