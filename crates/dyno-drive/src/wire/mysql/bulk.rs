//! A connection for loading: statements one after another, and files that the server requests.

use bytes::{BufMut as _, Bytes};
use dyno_record::{Error, ErrorKind, Result};
use tokio::sync::mpsc::Receiver;

use super::endpoint::Endpoint;
use super::error::ServerError;
use super::greeting::LOCAL_FILES;
use super::login::{log_in, packet, put_query, set_up};
use super::packet::{Done, Packet, Reader, broken, frame};
use super::session::QUIT;
use crate::wire::transport::{Transport, lost};
use crate::wire::within;

const ADVICE: &str = "create the tables first";

/// A connection for loading.
#[derive(Debug)]
pub struct Loader(Transport);

impl Loader {
    /// Connects and authenticates within the configured timeout.
    ///
    /// # Errors
    /// `unreachable`, `denied`, `too_many_connections`; other errors of the server; all with the
    /// server as context.
    pub async fn connect(endpoint: &Endpoint) -> Result<Self> {
        let config = &endpoint.config;
        let connecting = async {
            let (mut transport, _) = log_in(endpoint, LOCAL_FILES).await?;
            // A load runs no queries that a cache could answer.
            set_up(&mut transport, &config.session(false)).await?;
            Ok(Self(transport))
        };
        within(config.connect_timeout_s, config.server(), connecting).await
    }

    /// Runs a statement that returns no rows.
    ///
    /// # Errors
    /// The server's; `connection_lost`.
    pub async fn run(&mut self, statement: &str) -> Result<Done> {
        self.ask(statement).await?;
        self.done().await
    }

    /// Runs a statement that reads a file; `packets` is the content of that file.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn load(&mut self, statement: &str, mut packets: Receiver<Bytes>) -> Result<Done> {
        self.ask(statement).await?;
        let (mut sequence, body) = self.packet().await?;
        match body.first() {
            // The file name follows: the one in the statement.
            Some(0xFB) => {}
            Some(0xFF) => return Err(told(&body)),
            _ => return Err(broken("no request for the rows")),
        }
        let mut next = || {
            sequence = sequence.wrapping_add(1);
            sequence
        };
        while let Some(bytes) = packets.recv().await {
            frame(&mut self.0.write, next(), |out| out.put_slice(&bytes));
            self.send().await?;
        }
        // An empty packet ends the file.
        frame(&mut self.0.write, next(), |_| {});
        self.send().await?;
        self.done().await
    }

    /// The first warning of the last statement: its number and message.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn first_warning(&mut self) -> Result<Option<(u16, String)>> {
        self.ask("SHOW WARNINGS").await?;
        let (_, head) = self.packet().await?;
        if head.first() == Some(&0xFF) {
            return Err(told(&head));
        }
        let columns = Reader(&head).length().ok_or_else(|| broken("an unexpected packet"))?;
        for _ in 0..columns {
            self.packet().await?;
        }
        let mut first = None;
        loop {
            let (_, body) = self.packet().await?;
            match body.first() {
                Some(0xFE) => return Ok(first),
                Some(0xFF) => return Err(told(&body)),
                _ => first = first.or_else(|| warning(&body)),
            }
        }
    }

    /// Closes the connection without waiting for an answer.
    pub async fn close(mut self) {
        frame(&mut self.0.write, 0, |out| out.put_u8(QUIT));
        // Ignore errors: the server may be gone.
        let _ = self.0.send().await;
    }

    async fn ask(&mut self, statement: &str) -> Result<()> {
        put_query(statement, &mut self.0.write);
        self.send().await
    }

    async fn send(&mut self) -> Result<()> {
        let Err(error) = self.0.send().await else { return Ok(()) };
        // The server's last message may have the reason.
        let _ = self.0.receive().await;
        match Packet::first(&self.0.read) {
            Ok(Some(Packet { body: body @ [0xFF, ..], .. })) => Err(told(body)),
            _ => Err(lost(&error)),
        }
    }

    async fn done(&mut self) -> Result<Done> {
        let (_, body) = self.packet().await?;
        Done::answer(&body, told)
    }

    async fn packet(&mut self) -> Result<(u8, Vec<u8>)> {
        packet(&mut self.0).await.map_err(|mut error| {
            if error.kind == ErrorKind::Unreachable {
                error.kind = ErrorKind::ConnectionLost;
            }
            error
        })
    }
}

/// Converts an error packet.
fn told(body: &[u8]) -> Error {
    ServerError::parse(body).into_error_unless_missing(ADVICE)
}

/// A row of warnings as texts: level, number, message.
fn warning(row: &[u8]) -> Option<(u16, String)> {
    let mut reader = Reader(row);
    reader.lengthy()?;
    let code = std::str::from_utf8(reader.lengthy()?).ok()?.parse().ok()?;
    Some((code, String::from_utf8_lossy(reader.lengthy()?).replace('\n', " ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_a_number_and_words() {
        let row = b"\x07Warning\x041265\x0EData truncated";
        assert_eq!(warning(row), Some((1265, "Data truncated".to_owned())));
        for wrong in [&row[..20], b"\x07Warning\x01x\x01y", b""] {
            assert_eq!(warning(wrong), None);
        }
    }
}
