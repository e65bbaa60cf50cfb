//! What a batch sends when: a commit only after what it commits is known to have succeeded.

use bytes::BytesMut;

use super::login::put_query;

/// How far a part of a batch goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Its end in the bytes to send.
    pub bytes: usize,
    /// Statements up to its end.
    pub statements: usize,
}

/// The state of a session's transaction, and where its batch is cut.
#[derive(Debug)]
pub struct Batch {
    /// Ends of the parts before the last.
    cuts: Vec<Part>,
    /// Between the queued begin of a transaction and its end.
    begun: bool,
    /// Whether something queued since a transaction last ended may have changed data.
    wrote: bool,
    /// Statements queued since a transaction last ended, without a begin.
    loose: u32,
    /// Whether the batch begins or ends a transaction, or goes on with one.
    explicit: bool,
}

impl Batch {
    /// Of a session without a transaction.
    pub const fn new() -> Self {
        Self { cuts: Vec::new(), begun: false, wrote: false, loose: 0, explicit: false }
    }

    /// A new batch begins; the transaction that is open goes on.
    pub fn open(&mut self) {
        self.cuts.clear();
        self.explicit = self.begun;
        if !self.begun {
            self.forget();
        }
    }

    /// The transaction is rolled back, or gone.
    pub const fn forget(&mut self) {
        self.begun = false;
        self.wrote = false;
        self.loose = 0;
    }

    /// A transaction begins. Its first statement starts it on the server.
    pub const fn begin(&mut self) {
        self.begun = true;
        self.explicit = true;
    }

    /// A statement is queued.
    pub fn statement(&mut self, reads: bool) {
        self.wrote |= !reads;
        self.loose += u32::from(!self.begun);
    }

    /// Appends a commit to `out`, which holds `statements`, and cuts the batch before it. A
    /// transaction that has only read may be committed whatever became of it.
    pub fn commit(&mut self, statements: usize, out: &mut BytesMut) {
        if self.wrote && self.cuts.last().map_or(0, |cut| cut.statements) < statements {
            self.cuts.push(Part { bytes: out.len(), statements });
        }
        put_query("COMMIT", out);
        self.explicit = true;
        self.forget();
    }

    /// Appends a rollback. Alone it takes back what a procedure has begun: no reason for the server
    /// to commit nothing by itself from then on.
    pub fn rollback(&mut self, out: &mut BytesMut) {
        put_query("ROLLBACK", out);
        self.explicit |= self.begun || self.loose > 0;
        self.forget();
    }

    /// Whether the server may not commit each statement by itself: the batch has a transaction, or
    /// changes data by more than one statement.
    pub const fn needs_transaction(&self) -> bool {
        self.explicit || (self.loose > 1 && self.wrote)
    }

    /// Whether there are statements that nothing commits where the server does not by itself.
    pub const fn is_loose(&self) -> bool {
        self.loose > 0 && !self.begun
    }

    /// The parts in order; `all` is the last one.
    pub fn part(&self, number: usize, all: Part) -> Option<Part> {
        match number.checked_sub(self.cuts.len()) {
            None => Some(self.cuts[number]),
            Some(0) => Some(all),
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(batch: &Batch, statements: usize, out: &BytesMut) -> Vec<usize> {
        let all = Part { bytes: out.len(), statements };
        (0..).map_while(|number| batch.part(number, all)).map(|part| part.statements).collect()
    }

    #[test]
    fn a_commit_waits_for_what_it_commits() {
        let (mut batch, mut out) = (Batch::new(), BytesMut::new());
        batch.open();
        batch.begin();
        batch.statement(true);
        batch.statement(false);
        batch.commit(2, &mut out);
        assert!(batch.needs_transaction() && !batch.is_loose());
        assert_eq!(parts(&batch, 3, &out), [2, 3]);
    }

    #[test]
    fn it_waits_too_if_an_earlier_batch_changed_something() {
        let (mut batch, mut out) = (Batch::new(), BytesMut::new());
        batch.open();
        batch.begin();
        batch.statement(false);
        batch.open();
        batch.statement(true);
        batch.commit(1, &mut out);
        assert_eq!(parts(&batch, 2, &out), [1, 2]);
        // Alone it has nothing to wait for.
        batch.open();
        batch.begin();
        batch.statement(false);
        batch.open();
        batch.commit(0, &mut out);
        assert_eq!(parts(&batch, 1, &out), [1]);
    }

    #[test]
    fn what_only_read_is_committed_in_the_same_part() {
        let (mut batch, mut out) = (Batch::new(), BytesMut::new());
        batch.open();
        batch.begin();
        batch.statement(true);
        batch.commit(1, &mut out);
        batch.begin();
        batch.statement(false);
        batch.commit(3, &mut out);
        assert_eq!(parts(&batch, 4, &out), [3, 4]);
    }

    #[test]
    fn statements_without_a_begin_are_transactions_of_their_own() {
        let mut batch = Batch::new();
        batch.open();
        batch.statement(false);
        assert!(!batch.needs_transaction() && batch.is_loose());
        batch.open();
        batch.statement(true);
        batch.statement(true);
        assert!(!batch.needs_transaction());
        batch.statement(false);
        assert!(batch.needs_transaction() && batch.is_loose());
    }

    #[test]
    fn a_rollback_alone_needs_no_transaction() {
        let (mut batch, mut out) = (Batch::new(), BytesMut::new());
        batch.open();
        batch.rollback(&mut out);
        assert!(!batch.needs_transaction());
        batch.open();
        batch.statement(false);
        batch.rollback(&mut out);
        assert!(batch.needs_transaction());
    }
}
