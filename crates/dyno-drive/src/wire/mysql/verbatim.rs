//! Statements as a log has them, as text. Their rows are dropped as they arrive.

use bytes::{Buf as _, BufMut as _};
use dyno_record::{Error, ErrorKind, Result};

use super::error::ServerError;
use super::login::{packet, put_query};
use super::packet::{Done, Packet, Reader, broken, frame};
use super::session::MysqlSession;
use crate::wire::Verbatim;
use crate::wire::transport::{Transport, lost};

/// Maximum length of a statement: one packet.
const LONGEST: usize = 0xFF_FFF0;

/// The command that changes an option of the session, and the number of the one that allows several
/// statements in a text.
const SET_OPTION: u8 = 0x1B;
const SEVERAL_STATEMENTS: u16 = 0;

/// The next expected part of an answer.
#[derive(Debug, Clone, Copy)]
enum Stage {
    Head,
    /// This many column descriptions.
    Columns(u64),
    Rows,
}

impl Verbatim for MysqlSession {
    async fn allow_several(&mut self) -> Result<()> {
        let (transport, _) = self.open_verbatim()?;
        transport.forget();
        transport.write.clear();
        frame(&mut transport.write, 0, |out| {
            out.put_u8(SET_OPTION);
            out.put_u16_le(SEVERAL_STATEMENTS);
        });
        transport.send().await.map_err(|error| lost(&error))?;
        let (_, body) = packet(transport).await?;
        match body.first() {
            Some(0x00 | 0xFE) => Ok(()),
            Some(0xFF) => Err(ServerError::parse(&body).into_error()),
            _ => Err(broken("no answer to an option")),
        }
    }

    async fn verbatim(&mut self, sql: &str, _parameters: Option<&[Option<String>]>) -> Result<()> {
        if sql.len() > LONGEST {
            let message = format!("a statement of more than {LONGEST} bytes");
            return Err(Error::new(ErrorKind::Usage, message));
        }
        let (transport, tells_metadata) = self.open_verbatim()?;
        transport.forget();
        transport.write.clear();
        put_query(sql, &mut transport.write);
        let sent = transport.send().await;
        let answered = answer(transport, tells_metadata).await;
        let answered = match (sent, answered) {
            (Err(error), Ok(None)) => Err(lost(&error)),
            (_, answered) => answered,
        };
        let error = match answered {
            Ok(None) => return Ok(()),
            Ok(Some(refusal)) => refusal.into_error(),
            Err(error) => Error { kind: ErrorKind::ConnectionLost, ..error },
        };
        self.close_verbatim(error.kind == ErrorKind::ConnectionLost);
        Err(error)
    }
}

/// Reads all results of a statement; returns the server's error.
async fn answer(transport: &mut Transport, tells_metadata: bool) -> Result<Option<ServerError>> {
    let mut stage = Stage::Head;
    loop {
        let Some(packet) = Packet::first(&transport.read)? else {
            transport.receive().await.map_err(|error| lost(&error))?;
            continue;
        };
        let (length, body) = (packet.length(), packet.body);
        let ended = |body| Done::parse(body).ok_or_else(|| broken("a truncated end packet"));
        let done = match (stage, body.first()) {
            (Stage::Head | Stage::Rows, Some(0xFF)) => return Ok(Some(ServerError::parse(body))),
            (Stage::Head, Some(0x00)) | (Stage::Rows, Some(0xFE)) => Some(ended(body)?),
            // The server asks for a file of this machine.
            (Stage::Head, Some(0xFB)) => return Err(broken("a request for a file")),
            (Stage::Head, _) => {
                let mut reader = Reader(body);
                let columns = reader.length().ok_or_else(|| broken("an unexpected packet"))?;
                let described = !tells_metadata || reader.u8() != Some(0);
                stage = if described { Stage::Columns(columns) } else { Stage::Rows };
                None
            }
            (Stage::Columns(left), _) => {
                stage = if left > 1 { Stage::Columns(left - 1) } else { Stage::Rows };
                None
            }
            (Stage::Rows, _) => None,
        };
        transport.read.advance(length);
        match done {
            Some(Done { more: true, .. }) => stage = Stage::Head,
            Some(_) => return Ok(None),
            None => {}
        }
    }
}
