//! Statements as a log has them, over the simple or the extended protocol. Their rows are dropped as
//! they arrive.

use bytes::{Buf as _, BufMut as _};
use dyno_record::{Error, ErrorKind, Result};
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend;

use super::PostgresSession;
use super::error::ServerError;
use super::frame::{Frame, broken};
use crate::wire::Verbatim;
use crate::wire::transport::{Transport, lost};

/// Bytes of a message's tag and length.
const HEAD: usize = 5;
const LONGEST: usize = 1 << 30;

impl Verbatim for PostgresSession {
    async fn verbatim(&mut self, sql: &str, parameters: Option<&[Option<String>]>) -> Result<()> {
        let transport = self.open_verbatim()?;
        transport.forget();
        transport.write.clear();
        if let Err(error) = put(sql, parameters, transport) {
            transport.write.clear();
            return Err(Error::new(ErrorKind::Usage, error.to_string()));
        }
        let sent = transport.send().await;
        // Even if sending failed: the server's last message may have the reason.
        let answered = answer(transport).await;
        let answered = match (sent, answered) {
            (Err(error), Ok(None)) => Err(lost(&error)),
            (_, answered) => answered,
        };
        match answered {
            Ok(None) => Ok(()),
            Ok(Some(error)) => {
                let fatal = error.is_fatal();
                self.close_verbatim(fatal);
                let mut error = error.into_error();
                if fatal && error.kind != ErrorKind::TooManyConnections {
                    error.kind = ErrorKind::ConnectionLost;
                }
                Err(error)
            }
            Err(mut error) => {
                self.close_verbatim(true);
                error.kind = ErrorKind::ConnectionLost;
                Err(error)
            }
        }
    }
}

fn put(
    sql: &str,
    parameters: Option<&[Option<String>]>,
    transport: &mut Transport,
) -> std::io::Result<()> {
    let out = &mut transport.write;
    let Some(values) = parameters else { return frontend::query(sql, out) };
    frontend::parse("", sql, [], out)?;
    let text = |value: &Option<String>, out: &mut bytes::BytesMut| {
        Ok(value.as_ref().map_or(IsNull::Yes, |value| {
            out.put_slice(value.as_bytes());
            IsNull::No
        }))
    };
    frontend::bind("", "", [], values, text, [], out).map_err(|error| match error {
        frontend::BindError::Conversion(error) => std::io::Error::other(error),
        frontend::BindError::Serialization(error) => error,
    })?;
    frontend::execute("", 0, out)?;
    frontend::sync(out);
    Ok(())
}

/// Reads until the server is ready again, and returns its first error.
async fn answer(transport: &mut Transport) -> Result<Option<ServerError>> {
    let mut error: Option<ServerError> = None;
    let mut skip = 0;
    loop {
        let now = skip.min(transport.read.len());
        transport.read.advance(now);
        skip -= now;
        let head: Option<[u8; HEAD]> = transport.read.first_chunk().copied();
        let Some([tag, a, b, c, d]) = head.filter(|_| skip == 0) else {
            transport.receive().await.map_err(|error| lost(&error))?;
            continue;
        };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if !(4..=LONGEST).contains(&length) {
            return Err(broken(format_args!("a message of length {length}")));
        }
        match tag {
            b'E' | b'Z' => {
                let Some(frame) = Frame::first(&transport.read)? else {
                    transport.receive().await.map_err(|error| lost(&error))?;
                    continue;
                };
                if tag == b'Z' {
                    return Ok(error);
                }
                let found = ServerError::parse(frame.body);
                let fatal = found.is_fatal();
                error.get_or_insert(found);
                if fatal {
                    return Ok(error);
                }
                skip = length + 1;
            }
            // The server waits for data that a log does not have.
            b'G' | b'W' => return Err(broken("a request for data")),
            _ => skip = length + 1,
        }
    }
}
