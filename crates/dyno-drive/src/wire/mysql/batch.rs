//! When parts of a batch are sent: a commit only after everything before it has succeeded.

use bytes::BytesMut;

use super::login::put_query;

/// The end of a part of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// End offset in the bytes to send.
    pub bytes: usize,
    /// Statements before its end.
    pub statements: usize,
}

/// The state of a session's transaction, and where its batch is split.
#[derive(Debug)]
pub struct Batch {
    /// Ends of all parts except the last.
    cuts: Vec<Part>,
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
    /// For a session without a transaction.
    pub const fn new() -> Self {
        Self { cuts: Vec::new(), begun: false, wrote: false, loose: 0, explicit: false }
    }

    /// Starts a new batch; an open transaction continues.
    pub fn open(&mut self) {
        self.cuts.clear();
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

    /// Records the begin of a transaction. Its first statement starts it on the server.
    pub const fn begin(&mut self) {
        self.begun = true;
        self.explicit = true;
    }

    /// Records a queued statement.
    pub fn statement(&mut self, reads: bool) {
        self.wrote |= !reads;
        self.loose += u32::from(!self.begun);
    }

    /// Appends a commit to `out`, which has `statements` statements, and splits the batch before
    /// it. A transaction that only reads may be committed whether it succeeded or not.
    pub fn commit(&mut self, statements: usize, out: &mut BytesMut) {
        if self.wrote && self.cuts.last().map_or(0, |cut| cut.statements) < statements {
            self.cuts.push(Part { bytes: out.len(), statements });
        }
        put_query("COMMIT", out);
        self.explicit = true;
        self.forget();
    }

    /// Appends a rollback. A batch with only a rollback undoes what a procedure has begun, which is
    /// no reason to turn off autocommit.
    pub fn rollback(&mut self, out: &mut BytesMut) {
        put_query("ROLLBACK", out);
        self.explicit |= self.begun || self.loose > 0;
        self.forget();
    }

    /// Whether autocommit must be off: the batch has a transaction, or changes data in more than
    /// one statement.
    pub const fn needs_transaction(&self) -> bool {
        self.explicit || (self.loose > 1 && self.wrote)
    }

    /// Whether there are statements that nothing commits if autocommit is off.
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
        // Alone, it has nothing to wait for.
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
