//! Loads MariaDB and MySQL by `LOAD DATA LOCAL INFILE`: the "file" is generated while the server
//! reads it. Each stream has one connection and two threads, one that generates and one that sends.

use std::thread;

use bytes::Bytes;
use dyno_gen::sink::LoadDataSink;
use dyno_gen::{Dataset, Part};
use dyno_record::{Control, Error, ErrorKind, Result};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use super::journal;
use super::plan::{LoadOutcome, LoadPlan};
use super::streams::{self, Stop};
use crate::wire::mysql::{Config, Endpoint, Loader, class};

/// Bytes of a protocol packet: below any realistic `max_allowed_packet`.
const PACKET_BYTES: usize = 512 * 1024;

/// Packets queued for sending, so that generating and sending overlap in bounded memory.
const PACKETS_AHEAD: usize = 4;

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
}

impl Stream {
    fn connect(endpoint: &Endpoint, journal: Option<String>, stop: &Stop<'_>) -> Result<Self> {
        let runtime = streams::runtime()?;
        let connection = runtime.block_on(stop.watch(Loader::connect(endpoint)))?;
        Ok(Self { runtime, connection, journal })
    }

    /// Runs a statement; stops when `stop` does.
    fn run(&mut self, statement: &str, stop: &Stop<'_>) -> Result<()> {
        let Self { runtime, connection, .. } = self;
        runtime.block_on(stop.watch(connection.run(statement))).map(drop)
    }

    /// Fails on the first warning. With `LOCAL`, the server turns errors into warnings, because it
    /// cannot stop the client any more.
    fn require_no_warning(&mut self, stop: &Stop<'_>) -> Result<()> {
        let Self { runtime, connection, .. } = self;
        match runtime.block_on(stop.watch(connection.first_warning()))? {
            Some((code, message)) => {
                let kind = class(code, &message);
                Err(Error::new(kind, format!("the server altered a row: {message} [{code}]")))
            }
            None => Ok(()),
        }
    }
}

impl streams::Stream for Stream {
    fn load(&mut self, data: &Dataset, part: &Part, stop: &Stop<'_>) -> Result<(u64, u64)> {
        self.run("START TRANSACTION", stop)?;
        let (send, receive) = mpsc::channel(PACKETS_AHEAD);
        let (generated, told) = thread::scope(|scope| {
            let generator = scope.spawn(move || {
                // Dropping it, after the last row or earlier, ends the file.
                let send = send;
                generate(data, part, stop, &send)
            });
            let Self { runtime, connection, .. } = self;
            let statement = statement(part);
            // The receiver is gone in any case, so the generator does not wait.
            let told = runtime.block_on(stop.watch(connection.load(&statement, receive)));
            let dead = || Err(Error::new(ErrorKind::Internal, "the generating thread panicked"));
            (generator.join().unwrap_or_else(|_| dead()), told)
        });
        let ((rows, bytes), done) = match (generated, told) {
            (Ok(counts), Ok(done)) => (counts, done),
            // If the generator lost its reader, the server's error has the cause.
            (Err(error), Err(told)) if error.kind == ErrorKind::ConnectionLost => return Err(told),
            (Err(error), _) | (Ok(_), Err(error)) => return Err(error),
        };
        if done.warnings > 0 {
            self.require_no_warning(stop)?;
        }
        streams::require_all(rows, done.affected)?;
        if let Some(table) = &self.journal {
            let record = journal::record(table, part, done.affected);
            self.run(&record, stop)?;
        }
        self.run("COMMIT", stop)?;
        Ok((rows, bytes))
    }

    fn abandon(self) {
        // The server rolls back the open transaction of a broken connection. Ending the statement
        // properly would wait for it.
        let Self { runtime, connection, .. } = self;
        drop(connection);
        drop(runtime);
    }

    fn close(self) {
        self.runtime.block_on(self.connection.close());
    }
}

/// Generates a part into packets; returns rows and bytes.
fn generate(
    data: &Dataset,
    part: &Part,
    stop: &Stop<'_>,
    send: &mpsc::Sender<Bytes>,
) -> Result<(u64, u64)> {
    let mut sink = LoadDataSink::new(|chunk: &[u8]| {
        stop.check()?;
        for packet in chunk.chunks(PACKET_BYTES) {
            send.blocking_send(Bytes::copy_from_slice(packet))
                .map_err(|_| Error::new(ErrorKind::ConnectionLost, "nothing consumes the rows"))?;
        }
        Ok(())
    });
    let rows = data.write(part, &mut sink, stop.control)?;
    Ok((rows, sink.finish()?))
}

fn statement(part: &Part) -> String {
    let columns: Vec<_> = part.table.columns.iter().map(|column| quoted(column.name)).collect();
    let (table, columns) = (quoted(part.table.name), columns.join(", "));
    // No file of that name is opened: the server gets the generated rows.
    format!("LOAD DATA LOCAL INFILE 'dyno' INTO TABLE {table} CHARACTER SET utf8mb4 ({columns})")
}

/// An identifier in the quotes of MariaDB and MySQL.
fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted() {
        assert_eq!(quoted("a`b"), "`a``b`");
    }
}
