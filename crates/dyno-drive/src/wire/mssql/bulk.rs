//! A connection for loading: statements one after another, and rows.

use bytes::{BufMut as _, Bytes, BytesMut};
use dyno_gen::sink::{TdsColumn, TdsText};
use dyno_record::{Error, ErrorKind, Result};
use tokio::sync::mpsc::Receiver;

use super::answer::{Summary, Tokens, ask_within, read};
use super::column::{
    BIGCHAR, BIGVARCHAR, Column, DATEN, DATETIME2N, DECIMALN, Description, INT4, INT8, INTN, NCHAR,
    NUMERICN, NVARCHAR, each_cell,
};
use super::endpoint::Endpoint;
use super::login::{LOADING_PACKET, Server, log_in};
use super::packet::{HEADER, ROWS, Reader, broken, header};
use super::text::{Encoding, decode};
use super::token::{COLUMNS, Change, DONE, Token};
use crate::wire::transport::{Transport, lost};
use crate::wire::within;

const ADVICE: &str = "create the tables first";
/// The length of a type without a limit.
const UNLIMITED: u16 = u16::MAX;
/// A column whose nulls are possible, and whether it can be changed is unknown.
const NULLABLE: u16 = 1;
const UPDATABLE: u16 = 8;

/// A connection for loading.
#[derive(Debug)]
pub struct Loader {
    transport: Transport,
    server: Server,
    /// The transaction that requests belong to, 0 for none.
    transaction: u64,
}

/// A column of a table to load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type in T-SQL, with the collation of a text.
    pub sql: String,
    /// How its values are written.
    pub form: TdsColumn,
    /// Its type as the protocol describes it.
    type_info: Vec<u8>,
    flags: u16,
}

impl Loader {
    /// Connects and authenticates within the configured timeout.
    ///
    /// # Errors
    /// `unreachable`, `denied`, `too_many_connections`; other errors of the server; all with the
    /// server as context.
    pub async fn connect(endpoint: &Endpoint) -> Result<Self> {
        let config = &endpoint.config;
        let connecting = async {
            let (transport, server) = log_in(endpoint, LOADING_PACKET).await?;
            let mut loader = Self { transport, server, transaction: 0 };
            loader.run(&config.loading()).await?;
            Ok(loader)
        };
        within(config.connect_timeout_s, config.server(), connecting).await
    }

    /// Runs a statement; returns the number of rows it changed.
    ///
    /// # Errors
    /// The server's; `connection_lost`.
    pub async fn run(&mut self, sql: &str) -> Result<u64> {
        let answer = self.ask(sql).await?;
        self.done(&answer)
    }

    /// The columns `names` of a table, and whether the table has a clustered index.
    ///
    /// # Errors
    /// The server's; `usage` if a column has a type that cannot be loaded.
    pub async fn describe(&mut self, table: &str, names: &[&str]) -> Result<(Vec<Field>, bool)> {
        let quoted: Vec<String> = names.iter().map(|name| self::quoted(name)).collect();
        let sql = format!("select top 0 {} from {}", quoted.join(", "), self::quoted(table));
        let answer = self.ask(&sql).await?;
        self.done(&answer)?;
        let columns = described(&answer)?;
        if columns.len() != names.len() {
            return Err(broken("no description of a table"));
        }
        let object = format!("object_id('{}')", self::quoted(table).replace('\'', "''"));
        let sql =
            format!("select name, collation_name from sys.columns where object_id = {object}");
        let answer = self.ask(&sql).await?;
        self.done(&answer)?;
        let collations = texts(&answer)?;
        let collation = |name: &str| {
            collations.iter().find_map(|row| match &row[..] {
                [Some(found), collation] if found == name => collation.clone(),
                _ => None,
            })
        };
        let sql = format!(
            "select cast(type as varchar(9)) from sys.indexes \
             where object_id = {object} and type in (1, 5)"
        );
        let answer = self.ask(&sql).await?;
        self.done(&answer)?;
        let clustered = !texts(&answer)?.is_empty();
        let fields = names
            .iter()
            .zip(columns)
            .map(|(name, column)| Field::new(name, &column, collation(name)))
            .collect::<Result<_>>()?;
        Ok((fields, clustered))
    }

    /// Loads the rows in `chunks`, written as the columns want them; returns their number as the
    /// server reports it.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn load(
        &mut self,
        sql: &str,
        fields: &[Field],
        mut chunks: Receiver<Bytes>,
    ) -> Result<u64> {
        self.run(sql).await?;
        let sent = self.send_rows(fields, &mut chunks).await;
        // Even if sending failed: the server's last message may have the reason.
        match (sent, read(&mut self.transport).await) {
            (Ok(()), answer) => self.done(&answer?),
            (Err(error), Ok(answer)) => self.done(&answer).and(Err(error)),
            (Err(error), Err(_)) => Err(error),
        }
    }

    /// Sends the rows and the end of the message. The server answers a message that has ended, so
    /// an earlier answer is an error's, and the rest of the rows is useless.
    async fn send_rows(&mut self, fields: &[Field], chunks: &mut Receiver<Bytes>) -> Result<()> {
        let mut message = Message::new(self.server.packet_size);
        put_fields(fields, &mut message.rest);
        let mut answered = false;
        while !answered && let Some(bytes) = chunks.recv().await {
            message.rest.extend_from_slice(&bytes);
            message.cut(false);
            self.send(&mut message).await?;
            let arrived = self.transport.receive_available().await.map_err(|error| lost(&error))?;
            answered = arrived || !self.transport.read.is_empty();
        }
        message.rest.put_u8(DONE);
        message.rest.put_bytes(0, 12);
        message.cut(true);
        self.send(&mut message).await?;
        if answered { Err(broken("an answer before the end of the rows")) } else { Ok(()) }
    }

    async fn send(&mut self, message: &mut Message) -> Result<()> {
        let sent = self.transport.send_bytes(&message.out).await;
        message.out.clear();
        sent.map_err(|error| lost(&error))
    }

    async fn ask(&mut self, sql: &str) -> Result<Vec<u8>> {
        let size = self.server.packet_size;
        ask_within(&mut self.transport, sql, self.transaction, size).await
    }

    /// Rows that a request changed.
    fn done(&mut self, answer: &[u8]) -> Result<u64> {
        let summary = Summary::of(answer)?;
        for change in summary.changes {
            if let Change::Transaction(number) = change {
                self.transaction = number;
            }
        }
        match summary.error {
            Some(error) => Err(error.into_error_with(ADVICE)),
            None => Ok(summary.changed),
        }
    }
}

/// A message of any length, cut into packets as its bytes become known.
#[derive(Debug)]
struct Message {
    /// Bytes that are not in packets.
    rest: BytesMut,
    /// Packets to send.
    out: BytesMut,
    size: usize,
    packets: usize,
}

impl Message {
    fn new(size: usize) -> Self {
        Self { rest: BytesMut::new(), out: BytesMut::new(), size, packets: 0 }
    }

    /// Puts full packets in `out`, and the rest too if it is the `last`.
    fn cut(&mut self, last: bool) {
        let body = self.size - HEADER;
        // Something must be left for the last packet.
        while self.rest.len() > body || last && !self.rest.is_empty() {
            let length = self.rest.len().min(body);
            let ends = last && length == self.rest.len();
            self.packets += 1;
            self.out.put_slice(&header(ROWS, ends, length + HEADER, self.packets));
            self.out.put_slice(&self.rest.split_to(length));
        }
    }
}

/// The descriptions of an answer's columns.
fn described(answer: &[u8]) -> Result<Vec<(Column, u16, Vec<u8>)>> {
    let mut tokens = Tokens::of(answer);
    while let Some((token, bytes)) = tokens.next()? {
        if matches!(token, Token::Columns(_)) && bytes.first() == Some(&COLUMNS) {
            let all = Description::take_all(&mut Reader(&bytes[1..]))?.unwrap_or_default();
            let owned = |it: Description<'_>| (it.column, it.flags, it.type_info.to_vec());
            return Ok(all.into_iter().map(owned).collect());
        }
    }
    Ok(Vec::new())
}

/// The rows of an answer, whose columns are texts.
fn texts(answer: &[u8]) -> Result<Vec<Vec<Option<String>>>> {
    let mut rows = Vec::new();
    let mut tokens = Tokens::of(answer);
    while let Some((token, bytes)) = tokens.next()? {
        let Token::Row(packed) = token else { continue };
        let mut row = Vec::new();
        let columns = &tokens.columns;
        each_cell(&mut Reader(&bytes[1..]), columns, packed, |place, cell| {
            let mut text = String::new();
            let read = cell.joined().and_then(|it| decode(&it, columns[place].encoding, &mut text));
            row.push(read.map(|()| text));
            true
        });
        rows.push(row);
    }
    Ok(rows)
}

impl Field {
    fn new(
        name: &str,
        (column, flags, type_info): &(Column, u16, Vec<u8>),
        collation: Option<String>,
    ) -> Result<Self> {
        let at = |place: usize| type_info.get(place).copied().unwrap_or_default();
        let limit = u16::from_le_bytes([at(1), at(2)]);
        let text = |sql: &str, bytes: u16, encoding| {
            let length =
                if limit == UNLIMITED { "max".to_owned() } else { (limit / bytes).to_string() };
            let collate = collation.map(|name| format!(" collate {name}")).unwrap_or_default();
            let form = TdsColumn::Text { encoding, chunks: limit == UNLIMITED };
            (format!("{sql}({length}){collate}"), form)
        };
        let page = match column.encoding {
            Encoding::Utf8 => TdsText::Utf8,
            Encoding::Utf16 => TdsText::Utf16,
            Encoding::Page1252 | Encoding::OtherPage => TdsText::Ascii,
        };
        let (sql, form) = match (column.kind, at(1)) {
            (INT4, _) => ("int".to_owned(), TdsColumn::Int { bytes: 4, length: false }),
            (INT8, _) => ("bigint".to_owned(), TdsColumn::Int { bytes: 8, length: false }),
            (INTN, 4) => ("int".to_owned(), TdsColumn::Int { bytes: 4, length: true }),
            (INTN, 8) => ("bigint".to_owned(), TdsColumn::Int { bytes: 8, length: true }),
            (DECIMALN | NUMERICN, bytes @ 5..=17) => {
                let (precision, scale) = (at(2), at(3));
                let form = TdsColumn::Decimal { bytes: bytes - 1, scale };
                (format!("decimal({precision},{scale})"), form)
            }
            (DATEN, _) => ("date".to_owned(), TdsColumn::Date),
            (DATETIME2N, scale @ 6..=7) => {
                (format!("datetime2({scale})"), TdsColumn::Timestamp { scale })
            }
            (BIGVARCHAR, _) => text("varchar", 1, page),
            (BIGCHAR, _) => text("char", 1, page),
            (NVARCHAR, _) => text("nvarchar", 2, page),
            (NCHAR, _) => text("nchar", 2, page),
            (kind, _) => {
                let message = format!("column {name} has the type {kind:#x}, which no load fills");
                return Err(Error::new(ErrorKind::Usage, message));
            }
        };
        let flags = (flags & NULLABLE) | UPDATABLE;
        Ok(Self { name: name.to_owned(), sql, form, type_info: type_info.clone(), flags })
    }
}

/// Appends the description of a table's columns.
fn put_fields(fields: &[Field], out: &mut BytesMut) {
    out.put_u8(COLUMNS);
    out.put_u16_le(fields.len() as u16);
    for field in fields {
        out.put_u32_le(0);
        out.put_u16_le(field.flags);
        out.put_slice(&field.type_info);
        out.put_u8(field.name.encode_utf16().count() as u8);
        super::text::put_utf16(out, &field.name);
    }
}

/// An identifier in brackets.
pub fn quoted(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

#[cfg(test)]
#[path = "bulk_tests.rs"]
mod tests;
