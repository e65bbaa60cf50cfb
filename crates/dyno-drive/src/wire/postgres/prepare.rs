//! Prepares a workload's statements and checks that the database's types match the declared ones.

use dyno_record::{Error, ErrorKind, Result};
use postgres_protocol::message::frontend;

use super::error::ServerError;
use super::frame::{Frame, broken};
use super::session::{BEGIN, COMMIT, Prepared, ROLLBACK};
use crate::wire::transport::Transport;
use crate::wire::{Statement, Type, is_declared};

// OIDs of built-in types (pg_type.dat).
const INT8: u32 = 20;
const INT2: u32 = 21;
const INT4: u32 = 23;
const TEXT: u32 = 25;
const BPCHAR: u32 = 1042;
const VARCHAR: u32 = 1043;
const DATE: u32 = 1082;
const TIMESTAMP: u32 = 1114;
const TIMESTAMPTZ: u32 = 1184;
const NUMERIC: u32 = 1700;

/// Prepares all statements in one round trip.
///
/// # Errors
/// `usage` if tables are missing or a column's type differs from the declared one.
pub async fn prepare(transport: &mut Transport, statements: &[Statement]) -> Result<Vec<Prepared>> {
    let mut texts: Vec<bool> = statements.iter().map(|statement| !is_open(statement)).collect();
    // Each round declares the texts of one more statement.
    for round in 0..=statements.len() {
        match attempt(transport, statements, &texts, round).await? {
            Attempt::Prepared(prepared) => return Ok(prepared),
            Attempt::Undetermined(position) => texts[position] = true,
        }
    }
    Err(Error::new(ErrorKind::Internal, "preparing statements does not end"))
}

/// Whether its tables are the user's: not all columns of its result are declared. The server then
/// chooses the types of its texts. `char(n)`, `citext` or `uuid` compared with `text` would use no
/// index, or fail.
fn is_open(statement: &Statement) -> bool {
    statement.returns.last() == Some(&Type::Rest)
}

enum Attempt {
    Prepared(Vec<Prepared>),
    /// The server cannot choose the types of this statement's texts.
    Undetermined(usize),
}

async fn attempt(
    transport: &mut Transport,
    statements: &[Statement],
    texts: &[bool],
    round: usize,
) -> Result<Attempt> {
    let wrong = |error: std::io::Error| Error::new(ErrorKind::Internal, error.to_string());
    let controls: &[&str] = if round == 0 { &[BEGIN, COMMIT, ROLLBACK] } else { &[] };
    for control in controls {
        frontend::parse(control, control, [], &mut transport.write).map_err(wrong)?;
    }
    let mut prepared = Vec::with_capacity(statements.len());
    for (position, statement) in statements.iter().enumerate() {
        let key = format!("s{position}-{round}");
        let types = statement.params.iter().map(|kind| match kind {
            Type::Text if !texts[position] => 0,
            kind => parameter_type(*kind),
        });
        frontend::parse(&key, &statement.sql, types, &mut transport.write).map_err(wrong)?;
        frontend::describe(b'S', &key, &mut transport.write).map_err(wrong)?;
        prepared.push(Prepared { key, name: statement.name, returns: statement.returns });
    }
    frontend::sync(&mut transport.write);
    let lost = |error: std::io::Error| Error::from_io(&error, "preparing statements");
    transport.send().await.map_err(lost)?;
    let mut described =
        Described { statements, texts, next: 0, parsed: 0, undetermined: None, error: None };
    while !described.advance(&transport.read)? {
        transport.receive().await.map_err(lost)?;
    }
    transport.forget();
    match (described.undetermined, described.error) {
        (Some(position), _) => Ok(Attempt::Undetermined(position)),
        (None, Some(error)) => Err(error),
        (None, None) => Ok(Attempt::Prepared(prepared)),
    }
}

const fn parameter_type(kind: Type) -> u32 {
    match kind {
        Type::Int => INT4,
        Type::BigInt => INT8,
        Type::Decimal(_) => NUMERIC,
        Type::Text => TEXT,
        Type::Date => DATE,
        Type::Timestamp => TIMESTAMP,
        // Of results only.
        Type::Rest => 0,
    }
}

const fn accepts(declared: Type, oid: u32) -> bool {
    match declared {
        Type::Int | Type::BigInt => matches!(oid, INT2 | INT4 | INT8),
        Type::Decimal(_) => oid == NUMERIC,
        Type::Text => matches!(oid, TEXT | VARCHAR | BPCHAR),
        Type::Date => oid == DATE,
        Type::Timestamp => matches!(oid, TIMESTAMP | TIMESTAMPTZ),
        Type::Rest => true,
    }
}

/// The server's descriptions, checked as they arrive.
struct Described<'a> {
    statements: &'a [Statement],
    texts: &'a [bool],
    next: usize,
    parsed: usize,
    undetermined: Option<usize>,
    error: Option<Error>,
}

impl Described<'_> {
    fn advance(&mut self, buffer: &[u8]) -> Result<bool> {
        while let Some(frame) = Frame::first(&buffer[self.parsed..])? {
            self.parsed += frame.length();
            match frame.tag {
                b'T' => self.compare(&column_types(frame.body)?),
                b'n' => self.compare(&[]),
                b'E' => self.refuse(ServerError::parse(frame.body)),
                b'Z' => return Ok(true),
                _ => {}
            }
        }
        Ok(false)
    }

    fn refuse(&mut self, server: ServerError) {
        // Types that do not follow from the text, differ between its places, or leave several
        // functions or operators.
        const UNDETERMINED: [&str; 4] = ["42P18", "42P08", "42725", "42883"];
        if self.texts.get(self.next) == Some(&false) && UNDETERMINED.contains(&server.code.as_str())
        {
            self.undetermined.get_or_insert(self.next);
            return;
        }
        let error = server.into_error_unless_missing("load the workload into this database first");
        let name = self.statements.get(self.next).map_or("transaction control", |it| it.name);
        self.error.get_or_insert(error.context(format!("preparing statement {name}")));
    }

    fn compare(&mut self, types: &[u32]) {
        let Some(statement) = self.statements.get(self.next) else { return };
        self.next += 1;
        if !is_declared(statement.returns, types, |oid, kind| accepts(kind, oid)) {
            let message = format!(
                "statement {} should return {:?}, but the types of its columns are {types:?} here: \
                 load the workload into this database again",
                statement.name, statement.returns
            );
            self.error.get_or_insert(Error::new(ErrorKind::Usage, message));
        }
    }
}

/// Type OIDs in a `RowDescription`: per column a zero-terminated name, then table (4 bytes), column
/// (2), type (4), size (2), modifier (4), format (2).
fn column_types(body: &[u8]) -> Result<Vec<u32>> {
    let cut = || broken("a truncated row description");
    let (count, mut rest) = body.split_first_chunk::<2>().ok_or_else(cut)?;
    let mut types = Vec::new();
    for _ in 0..u16::from_be_bytes(*count) {
        let name = rest.iter().position(|byte| *byte == 0).ok_or_else(cut)?;
        let fields = rest.get(name + 1..name + 19).ok_or_else(cut)?;
        let oid = fields.get(6..10).and_then(|oid| oid.first_chunk::<4>()).ok_or_else(cut)?;
        types.push(u32::from_be_bytes(*oid));
        rest = &rest[name + 19..];
    }
    Ok(types)
}
