//! `COPY … FROM STDIN`: rows streamed into a table.

use std::io;
use std::time::Duration;

use dyno_record::{Error, ErrorKind, Result};
use postgres_protocol::message::frontend;

use super::Postgres;
use super::error::ServerError;
use super::frame::{Frame, broken};
use crate::wire::transport::{Transport, lost};

/// How long the server may take to acknowledge an abandoned copy.
const FAREWELL: Duration = Duration::from_secs(1);

/// A connection for COPY, one statement after another.
#[derive(Debug)]
pub struct CopyIn {
    transport: Transport,
    /// Whether data may be partly sent: nothing else can follow.
    cut: bool,
}

/// The server's last message.
enum Said {
    /// Ready for copy data.
    Copying,
    /// End of a statement, with its number of rows, if its kind reports one.
    Done(Option<u64>),
    /// Ready for the next statement.
    Ready,
}

impl CopyIn {
    /// Connects.
    ///
    /// # Errors
    /// As [`Wire::connect`](crate::wire::Wire::connect).
    pub async fn connect(server: &Postgres) -> Result<Self> {
        Ok(Self { transport: server.log_in().await?, cut: false })
    }

    /// Starts a copy with the statement `sql`.
    ///
    /// # Errors
    /// The server's, such as a missing table.
    pub async fn start(&mut self, sql: &str) -> Result<()> {
        let wrong = |error: io::Error| Error::new(ErrorKind::Internal, error.to_string());
        frontend::query(sql, &mut self.transport.write).map_err(wrong)?;
        let sent = self.transport.send().await;
        self.told(sent).await?;
        match self.next().await? {
            Said::Copying => Ok(()),
            Said::Done(_) | Said::Ready => Err(broken("no request for data")),
        }
    }

    /// Runs statements between copies, such as begin and commit.
    ///
    /// # Errors
    /// The server's.
    pub async fn execute(&mut self, sql: &str) -> Result<()> {
        let wrong = |error: io::Error| Error::new(ErrorKind::Internal, error.to_string());
        frontend::query(sql, &mut self.transport.write).map_err(wrong)?;
        let sent = self.transport.send().await;
        self.told(sent).await?;
        loop {
            match self.next().await? {
                Said::Done(_) => {}
                Said::Ready => return Ok(()),
                Said::Copying => return Err(broken("an unexpected request for data")),
            }
        }
    }

    /// Sends data, and checks whether the server has reported an error. If dropped before its end,
    /// only [`abandon`](Self::abandon) can follow.
    ///
    /// # Errors
    /// The server's, for this or earlier data.
    pub async fn data(&mut self, data: &[u8]) -> Result<()> {
        let length = (data.len() as u32 + 4).to_be_bytes();
        let head = [b'd', length[0], length[1], length[2], length[3]];
        self.cut = true;
        let sent = match self.transport.send_bytes(&head).await {
            Ok(()) => self.transport.send_bytes(data).await,
            failed => failed,
        };
        self.cut = sent.is_err();
        self.told(sent).await?;
        // There may be more to read than this; the next check then finds the error.
        let available = self.transport.receive_available().await;
        self.told(available.map(drop)).await?;
        self.look().map(drop)
    }

    /// Ends the copy; returns the number of rows stored.
    ///
    /// # Errors
    /// The server's: it then stored none.
    pub async fn finish(&mut self) -> Result<u64> {
        frontend::copy_done(&mut self.transport.write);
        let sent = self.transport.send().await;
        self.told(sent).await?;
        let mut copied = None;
        loop {
            match (self.next().await?, copied) {
                (Said::Done(Some(rows)), None) => copied = Some(rows),
                (Said::Ready, Some(rows)) => return Ok(rows),
                _ => return Err(broken("an unexpected answer at the end of a copy")),
            }
        }
    }

    /// Abandons the copy, so that the server stores none of its rows, and disconnects.
    pub async fn abandon(mut self) {
        if self.cut {
            return;
        }
        let farewell = async {
            frontend::copy_fail("Dyno stopped loading", &mut self.transport.write).ok()?;
            self.transport.send().await.ok()?;
            // The server answers with an error; whichever it is, the rows are discarded.
            self.next().await.ok()
        };
        // If the server does not answer, closing the connection has the same effect.
        let _ = tokio::time::timeout(FAREWELL, farewell).await;
    }

    /// Closes the connection.
    pub async fn close(mut self) {
        frontend::terminate(&mut self.transport.write);
        // Ignore errors: the server may be gone.
        let _ = self.transport.send().await;
    }

    /// Waits for the server's next message.
    async fn next(&mut self) -> Result<Said> {
        loop {
            if let Some(said) = self.look()? {
                return Ok(said);
            }
            let received = self.transport.receive().await;
            self.told(received).await?;
        }
    }

    /// The server's next message, if it has arrived.
    fn look(&mut self) -> Result<Option<Said>> {
        while let Some(frame) = Frame::first(&self.transport.read)? {
            let said = match frame.tag {
                b'G' => Some(Said::Copying),
                b'C' => Some(Said::Done(rows(frame.body))),
                b'Z' => Some(Said::Ready),
                b'E' => {
                    let error = ServerError::parse(frame.body);
                    return Err(error.into_error_unless_missing("create the tables first"));
                }
                // Notices, parameter changes and notifications can arrive at any time.
                b'N' | b'S' | b'A' => None,
                tag => return Err(broken(format_args!("message {:?}", char::from(tag)))),
            };
            let length = frame.length();
            bytes::Buf::advance(&mut self.transport.read, length);
            if said.is_some() {
                return Ok(said);
            }
        }
        Ok(None)
    }

    /// Classifies a connection error; prefers the server's last message, if there is one.
    async fn told(&mut self, result: io::Result<()>) -> Result<()> {
        let Err(error) = result else { return Ok(()) };
        while self.transport.receive().await.is_ok() {}
        while self.look()?.is_some() {}
        Err(lost(&error))
    }
}

/// The number of rows in a command tag such as `COPY 25`; `BEGIN` has none.
fn rows(tag: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(tag).unwrap_or_default().trim_end_matches('\0');
    text.rsplit(' ').next()?.parse().ok()
}
