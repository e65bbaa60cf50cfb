//! Loads MariaDB and MySQL by `LOAD DATA LOCAL INFILE`: the "file" is generated while the server
//! reads it. One connection and two threads a stream, one that generates and one that sends.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use dyno_gen::sink::LoadDataSink;
use dyno_gen::{Dataset, Part};
use dyno_record::{Control, Error, ErrorKind, Result};
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, InfileData, LocalInfileError, Opts, OptsBuilder, ServerError};
use serde::Deserialize;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use super::journal;
use super::plan::{LoadOutcome, LoadPlan};
use super::streams::{self, Stop};
use crate::wire::postgres::Secret;

/// Bytes of one protocol packet: below any `max_allowed_packet` that a server is run with.
const PACKET_BYTES: usize = 512 * 1024;

/// Packets that may wait to be sent, so that generating and sending overlap in bounded memory.
const PACKETS_AHEAD: usize = 4;

/// How often a stream that waits for the server looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(100);

/// What does not fit a column is told and never cut; there is one meaning of a time stamp.
///
/// `unique_checks` stays on. Without it and `foreign_key_checks` MariaDB sorts the rows of an empty
/// table before it stores them and locks the whole table: twice the processor time (5.0 s against
/// 2.5 s for `lineitem` at scale 0.1, 10.11) for rows that come sorted, and one stream at a time.
const SESSION: [&str; 2] = [
    "SET NAMES utf8mb4 COLLATE utf8mb4_bin",
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES', time_zone = '+00:00', unique_checks = 1",
];

/// How to reach a MariaDB or MySQL server.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MysqlConfig {
    /// A host name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// A unix socket's path; it goes before host and port.
    #[serde(default)]
    pub unix_socket: Option<String>,
    /// User to log in as.
    pub user: String,
    /// Their password, if they have one.
    #[serde(default)]
    pub password: Option<Secret>,
    /// Database of the tables.
    pub database: String,
    /// Longest wait for a connection, authentication included.
    #[serde(default = "default_timeout")]
    pub connect_timeout_s: f64,
    /// Variables that every session sets to a whole number.
    #[serde(default)]
    pub settings: BTreeMap<String, u64>,
}

fn default_timeout() -> f64 {
    10.0
}

impl MysqlConfig {
    fn options(&self) -> Opts {
        OptsBuilder::default()
            .ip_or_hostname(self.host.clone())
            .tcp_port(self.port)
            .socket(self.unix_socket.clone())
            // Otherwise the driver changes over to a socket on its own, and measures another path.
            .prefer_socket(self.unix_socket.is_some())
            .user(Some(self.user.clone()))
            .pass(self.password.as_ref().map(Secret::as_str))
            .db_name(Some(self.database.clone()))
            .init(self.session())
            .into()
    }

    /// The statements that begin a session.
    fn session(&self) -> Vec<String> {
        let own = self.settings.iter().map(|(name, value)| format!("SET SESSION {name} = {value}"));
        SESSION.iter().map(ToString::to_string).chain(own).collect()
    }
}

/// See [`load`](super::load). Each part is one transaction.
pub fn load(plan: &LoadPlan, config: &MysqlConfig, control: &Control) -> Result<LoadOutcome> {
    let journal = plan.journal.as_ref().map(|journal| quoted(&journal.table));
    streams::load(plan, control, || Stream::connect(config, journal.clone()))
}

/// A connection and the runtime that serves it.
struct Stream {
    runtime: Runtime,
    connection: Conn,
    /// The table that parts are recorded in, quoted.
    journal: Option<String>,
}

impl Stream {
    fn connect(config: &MysqlConfig, journal: Option<String>) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::from_io(&error, "starting a loading stream"))?;
        let limit = Duration::from_secs_f64(config.connect_timeout_s);
        let connection = runtime.block_on(async {
            match tokio::time::timeout(limit, Conn::new(config.options())).await {
                Ok(Ok(connection)) => Ok(connection),
                Ok(Err(error)) => Err(connect_error(error)),
                Err(_) => Err(Error::new(ErrorKind::Unreachable, "the server does not answer")),
            }
        })?;
        Ok(Self { runtime, connection, journal })
    }

    /// Runs statements, watching `stop` meanwhile.
    fn run(&mut self, statement: &str, stop: &Stop<'_>) -> Result<()> {
        let Self { runtime, connection, .. } = self;
        runtime.block_on(async {
            let answer = connection.query_drop(statement);
            tokio::pin!(answer);
            loop {
                tokio::select! {
                    answer = &mut answer => return answer.map_err(statement_error),
                    () = tokio::time::sleep(LOOK) => stop.check()?,
                }
            }
        })
    }

    /// Tells of the first thing that the server did not take as it was. `LOCAL` makes warnings of
    /// what else would be errors, as the server cannot stop the client any more.
    fn require_no_warning(&mut self) -> Result<()> {
        if self.connection.get_warnings() == 0 {
            return Ok(());
        }
        let query = self.connection.query_first::<(String, u32, String), _>("SHOW WARNINGS");
        match self.runtime.block_on(query).map_err(statement_error)? {
            Some((_, code, message)) => {
                let kind = class(code as u16, &message);
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
        let file = async move { Ok(Box::pin(Packets(receive)) as InfileData) };
        self.connection.set_infile_handler(file);
        let (generated, told) = thread::scope(|scope| {
            let generator = scope.spawn(move || {
                // Its end, with the last row or before, is the end of the file.
                let send = send;
                generate(data, part, stop, &send)
            });
            let told = self.run(&statement(part), stop);
            if told.is_err() {
                // A file that was never asked for would keep the generator waiting.
                let none = async { Err(LocalInfileError::NoHandler.into()) };
                self.connection.set_infile_handler(none);
            }
            let dead = || Err(Error::new(ErrorKind::Internal, "the generator died"));
            (generator.join().unwrap_or_else(|_| dead()), told)
        });
        let (rows, bytes) = match (generated, told) {
            (Ok(counts), Ok(())) => counts,
            // A generator that nobody reads knows less than the server does.
            (Err(error), Err(told)) if error.kind == ErrorKind::ConnectionLost => return Err(told),
            (Err(error), _) | (Ok(_), Err(error)) => return Err(error),
        };
        let taken = self.connection.affected_rows();
        self.require_no_warning()?;
        if taken != rows {
            let message = format!("the server took {taken} of {rows} rows");
            return Err(Error::new(ErrorKind::Protocol, message));
        }
        if let Some(table) = &self.journal {
            let record = journal::record(table, part, taken);
            self.run(&record, stop)?;
        }
        self.run("COMMIT", stop)?;
        Ok((rows, bytes))
    }

    fn abandon(self) {
        // The server rolls back what a broken connection leaves open. Ending the statement in the
        // orderly way would wait for it.
        let Self { runtime, connection, .. } = self;
        drop(connection);
        drop(runtime);
    }

    fn close(self) {
        // A server that is gone needs no farewell.
        let _ = self.runtime.block_on(self.connection.disconnect());
    }
}

/// Generates a part into packets; returns its rows and bytes.
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
                .map_err(|_| Error::new(ErrorKind::ConnectionLost, "nobody takes the rows"))?;
        }
        Ok(())
    });
    let rows = data.write(part, &mut sink, stop.control)?;
    Ok((rows, sink.finish()?))
}

/// What the generator sends, as the driver reads a file.
struct Packets(mpsc::Receiver<Bytes>);

impl futures_core::Stream for Packets {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|packet| packet.map(Ok))
    }
}

fn statement(part: &Part) -> String {
    let columns: Vec<_> = part.table.columns.iter().map(|column| quoted(column.name)).collect();
    let (table, columns) = (quoted(part.table.name), columns.join(", "));
    // The name is never opened: the handler gives the data.
    format!("LOAD DATA LOCAL INFILE 'dyno' INTO TABLE {table} CHARACTER SET utf8mb4 ({columns})")
}

/// An identifier in SQL, whatever characters it has.
fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn connect_error(error: mysql_async::Error) -> Error {
    match error {
        mysql_async::Error::Server(error) => server_error(&error),
        mysql_async::Error::Io(error) => {
            Error::new(ErrorKind::Unreachable, format!("cannot connect: {error}"))
        }
        other => Error::new(ErrorKind::Protocol, format!("cannot connect: {other}")),
    }
}

fn statement_error(error: mysql_async::Error) -> Error {
    match error {
        mysql_async::Error::Server(error) => server_error(&error),
        mysql_async::Error::Io(error) => {
            Error::new(ErrorKind::ConnectionLost, format!("the connection broke: {error}"))
        }
        mysql_async::Error::Driver(mysql_async::DriverError::ConnectionClosed) => {
            Error::new(ErrorKind::ConnectionLost, "the server closed the connection")
        }
        other => Error::new(ErrorKind::Protocol, other.to_string()),
    }
}

fn server_error(error: &ServerError) -> Error {
    let advice = match error.code {
        1148 | 3948 | 4166 => "; allow it on the server: SET GLOBAL local_infile = 1",
        1146 | 1049 => "; create the tables first",
        _ => "",
    };
    let kind = class(error.code, &error.message);
    let message = error.message.replace('\n', " ");
    Error::new(kind, format!("{message}{advice} [error {}]", error.code))
}

/// The class of a server's error number (MariaDB manual, "MariaDB Error Codes"). Operating-system
/// errors come inside of others: 28 is "no space left on device".
fn class(code: u16, message: &str) -> ErrorKind {
    if message.contains("No space left") || message.contains("error 28 ") {
        return ErrorKind::DiskFull;
    }
    match code {
        1040 | 1203 | 1226 => ErrorKind::TooManyConnections,
        1044 | 1045 | 1129 | 1130 | 1142 | 1143 | 1148 | 1227 | 1370 | 1698 | 3159 | 3948
        | 4166 => ErrorKind::Denied,
        1021 | 1114 => ErrorKind::DiskFull,
        5 | 1037 | 1038 | 1041 => ErrorKind::OutOfMemory,
        1205 | 1317 | 1969 | 3024 => ErrorKind::Timeout,
        1213 => ErrorKind::Deadlock,
        1020 => ErrorKind::Serialization,
        1053 | 1080 | 1152 | 1158..=1161 | 1184 | 1927 => ErrorKind::ConnectionLost,
        1049 | 1146 => ErrorKind::Usage,
        _ => ErrorKind::Database,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_do_not_show() {
        let config: MysqlConfig = serde_json::from_str(
            r#"{"host": "h", "port": 1, "user": "u", "password": "p4ss", "database": "d"}"#,
        )
        .unwrap();
        assert!(!format!("{config:?}").contains("p4ss"));
        assert_eq!(config.options().pass(), Some("p4ss"));
    }

    #[test]
    fn sessions_set_what_they_are_given() {
        let config: MysqlConfig = serde_json::from_str(
            r#"{"host": "h", "port": 1, "user": "u", "database": "d",
                "settings": {"sort_buffer_size": 65536}}"#,
        )
        .unwrap();
        assert_eq!(config.session()[2], "SET SESSION sort_buffer_size = 65536");
    }

    #[test]
    fn names_are_quoted() {
        assert_eq!(quoted("a`b"), "`a``b`");
    }

    #[test]
    fn errors_are_classed() {
        let told = |code, message: &str| {
            let (message, state) = (message.to_owned(), "HY000".to_owned());
            server_error(&ServerError { code, message, state })
        };
        assert_eq!(told(1213, "Deadlock found").kind, ErrorKind::Deadlock);
        assert_eq!(told(1030, "Got error 28 from storage engine").kind, ErrorKind::DiskFull);
        let disabled = told(4166, "The used command is not allowed");
        assert!(disabled.message.contains("SET GLOBAL local_infile = 1"), "{disabled}");
    }
}
