//! A batch as messages: when each is sent, and what begins and ends transactions.

use std::ops::Range;

use bytes::{BufMut as _, BytesMut};

use super::packet::{BATCH, HEADER, TRANSACTION, header};
use super::text::put_utf16;

/// Bytes before the first call of a message: the packet's header and the message's headers.
pub const PREFIX: usize = HEADER + HEADERS;
/// Bytes of a message's headers: their total, then one header with the transaction.
const HEADERS: usize = 22;
/// Separates the calls of a message.
const NEXT_CALL: u8 = 0xFF;

// Requests about transactions.
const BEGIN: u16 = 5;
const COMMIT: u16 = 7;

/// A message of a batch. It is sent once everything before it has succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it does.
    pub kind: Kind,
    /// Its bytes in the buffer, for calls.
    pub bytes: Range<usize>,
    /// Requests of the batch up to its end.
    pub requests: usize,
}

/// What a message does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Calls procedures.
    Calls,
    /// Begins a transaction.
    Begin,
    /// Commits.
    Commit,
    /// Rolls back.
    Rollback,
}

/// The messages of a session's batch, and the state of its transaction.
#[derive(Debug, Default)]
pub struct Batch {
    /// The messages.
    pub parts: Vec<Part>,
    /// Whether a transaction was queued to begin and has not ended.
    begun: bool,
    /// Whether anything queued since the last transaction ended may have changed data.
    wrote: bool,
    /// Statements queued without a begin since the last transaction ended.
    loose: u32,
    /// Whether the batch begins, continues or ends a transaction.
    explicit: bool,
}

impl Batch {
    /// Starts a new batch; an open transaction continues.
    pub fn open(&mut self) {
        self.parts.clear();
        self.explicit = self.begun;
        if !self.begun {
            self.forget();
        }
    }

    /// Records that the transaction is rolled back or lost.
    pub const fn forget(&mut self) {
        self.begun = false;
        self.wrote = false;
        self.loose = 0;
    }

    /// Records the begin of a transaction.
    pub const fn begin(&mut self) {
        self.begun = true;
        self.explicit = true;
    }

    /// Appends a message without calls.
    pub fn put(&mut self, kind: Kind, requests: usize) {
        if kind != Kind::Begin {
            self.explicit |= kind == Kind::Commit || self.begun || self.loose > 0;
            self.forget();
        }
        self.parts.push(Part { kind, bytes: 0..0, requests });
    }

    /// Appends what is before a call to `out`: the space for the headers of a new message, also if
    /// the call must be `alone`, or a separator.
    pub fn start_call(&mut self, alone: bool, out: &mut BytesMut) {
        match self.parts.last() {
            Some(Part { kind: Kind::Calls, .. }) if !alone => out.put_u8(NEXT_CALL),
            _ => {
                let start = out.len();
                out.put_bytes(0, PREFIX);
                let bytes = start..start + PREFIX;
                self.parts.push(Part { kind: Kind::Calls, bytes, requests: 0 });
            }
        }
    }

    /// Records a call that ends at `end` of the buffer.
    pub fn end_call(&mut self, reads: bool, end: usize, requests: usize) {
        self.wrote |= !reads;
        self.loose += u32::from(!self.begun);
        if let Some(part) = self.parts.last_mut() {
            part.bytes.end = end;
            part.requests = requests;
        }
    }

    /// Whether the session must begin transactions by itself: the batch has one, or changes data
    /// in more than one statement.
    pub const fn needs_transaction(&self) -> bool {
        self.explicit || (self.loose > 1 && self.wrote)
    }

    /// Whether it is one statement, which is a transaction of its own.
    pub const fn is_lone(&self) -> bool {
        self.loose == 1 && !self.explicit && self.parts.len() == 1
    }

    /// Whether there are statements that nothing commits once the session begins transactions.
    pub const fn is_loose(&self) -> bool {
        self.loose > 0 && !self.begun
    }
}

/// The headers of a message: one with the transaction it belongs to.
pub fn headers(transaction: u64) -> [u8; HEADERS] {
    let mut bytes = [0; HEADERS];
    bytes[0] = HEADERS as u8;
    bytes[4] = HEADERS as u8 - 4;
    bytes[8] = 2;
    bytes[10..18].copy_from_slice(&transaction.to_le_bytes());
    // One request at a time.
    bytes[18] = 1;
    bytes
}

/// Appends a message with statements as text, of one packet.
pub fn put_text(sql: &str, transaction: u64, out: &mut BytesMut) {
    put_message(BATCH, transaction, out, |out| put_utf16(out, sql));
}

/// Appends the message of a part without calls. A commit of no known transaction and a rollback
/// are texts, because the server refuses requests without a transaction.
pub fn put_control(kind: Kind, transaction: u64, out: &mut BytesMut) {
    match (kind, transaction) {
        (Kind::Begin, _) => put_message(TRANSACTION, transaction, out, |out| {
            out.put_u16_le(BEGIN);
            // The session's isolation level, and no name.
            out.put_slice(&[0, 0]);
        }),
        (Kind::Commit, 1..) => put_message(TRANSACTION, transaction, out, |out| {
            out.put_u16_le(COMMIT);
            // No name, and no new transaction.
            out.put_slice(&[0, 0]);
        }),
        (Kind::Commit, 0) => put_text("if @@trancount > 0 commit", transaction, out),
        (Kind::Rollback | Kind::Calls, _) => {
            put_text("if @@trancount > 0 rollback", transaction, out);
        }
    }
}

fn put_message(kind: u8, transaction: u64, out: &mut BytesMut, body: impl FnOnce(&mut BytesMut)) {
    let start = out.len();
    out.put_bytes(0, HEADER);
    out.put_slice(&headers(transaction));
    body(out);
    let length = out.len() - start;
    debug_assert!(length <= super::login::SMALLEST_PACKET, "control messages are short");
    out[start..start + HEADER].copy_from_slice(&header(kind, true, length, 1));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(batch: &Batch) -> Vec<(Kind, usize)> {
        batch.parts.iter().map(|part| (part.kind, part.requests)).collect()
    }

    fn call(batch: &mut Batch, reads: bool, requests: usize, out: &mut BytesMut) {
        batch.start_call(false, out);
        out.put_u8(7);
        batch.end_call(reads, out.len(), requests);
    }

    #[test]
    fn calls_share_a_message_and_a_commit_waits() {
        let (mut batch, mut out) = (Batch::default(), BytesMut::new());
        batch.open();
        batch.begin();
        call(&mut batch, true, 1, &mut out);
        call(&mut batch, false, 2, &mut out);
        batch.put(Kind::Commit, 3);
        assert_eq!(kinds(&batch), [(Kind::Calls, 2), (Kind::Commit, 3)]);
        assert_eq!(batch.parts[0].bytes, 0..PREFIX + 3);
        assert_eq!(out[PREFIX..], [7, NEXT_CALL, 7]);
        assert!(batch.needs_transaction() && !batch.is_loose());
    }

    #[test]
    fn calls_that_must_be_alone_are() {
        let (mut batch, mut out) = (Batch::default(), BytesMut::new());
        batch.open();
        for requests in 1..=2 {
            batch.start_call(true, &mut out);
            batch.end_call(false, out.len(), requests);
        }
        assert_eq!(kinds(&batch), [(Kind::Calls, 1), (Kind::Calls, 2)]);
    }

    #[test]
    fn statements_without_a_begin_are_transactions_of_their_own() {
        let (mut batch, mut out) = (Batch::default(), BytesMut::new());
        batch.open();
        call(&mut batch, false, 1, &mut out);
        assert!(!batch.needs_transaction() && batch.is_loose() && batch.is_lone());
        batch.open();
        call(&mut batch, true, 1, &mut out);
        assert!(batch.is_lone());
        call(&mut batch, true, 2, &mut out);
        assert!(!batch.needs_transaction() && !batch.is_lone());
        call(&mut batch, false, 3, &mut out);
        assert!(batch.needs_transaction() && batch.is_loose());
    }

    #[test]
    fn a_rollback_alone_needs_no_transaction() {
        let mut batch = Batch::default();
        batch.open();
        batch.put(Kind::Rollback, 1);
        assert!(!batch.needs_transaction());
    }

    #[test]
    fn transactions_end_by_request_if_there_is_one() {
        let mut out = BytesMut::new();
        put_control(Kind::Commit, 0x0102, &mut out);
        let message = [14, 1, 0, 34, 0, 0, 1, 0, 22, 0, 0, 0, 18, 0, 0, 0, 2, 0, 2, 1, 0, 0, 0, 0];
        assert_eq!(out[..24], message);
        assert_eq!(out[24..], [0, 0, 1, 0, 0, 0, 7, 0, 0, 0]);
        for (kind, transaction) in [(Kind::Commit, 0), (Kind::Rollback, 5)] {
            out.clear();
            put_control(kind, transaction, &mut out);
            assert_eq!(out[0], BATCH);
        }
    }
}
