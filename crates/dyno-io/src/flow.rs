//! What a lane may do next: a pure state machine.

use crate::engine::Op;
use crate::plan::{Job, Sync, SyncCall};

/// The order of a job's I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// None: I/Os are independent.
    Free,
    /// Each read is followed by a write of the same block.
    Modify,
    /// A log: writes until `every` have ended, then a sync, then the next writes.
    Log {
        every: u32,
        sync: Op,
        /// Writes issued since the last sync.
        issued: u32,
        /// Writes in flight.
        writing: u32,
        syncing: bool,
    },
}

/// What a lane may issue now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// An access of the pattern.
    Access,
    /// This sync.
    Sync(Op),
    /// Nothing before an I/O ends.
    Wait,
}

impl Flow {
    pub(crate) fn of(job: &Job) -> Self {
        match job.sync {
            _ if job.modify => Self::Modify,
            None => Self::Free,
            Some(Sync { call, every }) => {
                let sync = match call {
                    SyncCall::Fsync => Op::Fsync,
                    SyncCall::Fdatasync => Op::Fdatasync,
                };
                Self::Log { every, sync, issued: 0, writing: 0, syncing: false }
            }
        }
    }

    #[inline]
    pub(crate) fn next(&self) -> Next {
        match *self {
            Self::Free | Self::Modify => Next::Access,
            Self::Log { syncing: true, .. } => Next::Wait,
            Self::Log { every, issued, .. } if issued < every => Next::Access,
            Self::Log { sync, writing: 0, .. } => Next::Sync(sync),
            Self::Log { .. } => Next::Wait,
        }
    }

    /// Records that `op` was issued.
    #[inline]
    pub(crate) fn issued(&mut self, op: Op) {
        if let Self::Log { issued, writing, syncing, .. } = self {
            if op == Op::Write {
                *issued += 1;
                *writing += 1;
            } else {
                *syncing = true;
            }
        }
    }

    /// Records that `op` has ended, with or without success.
    #[inline]
    pub(crate) fn ended(&mut self, op: Op) {
        if let Self::Log { issued, writing, syncing, .. } = self {
            if op == Op::Write {
                *writing -= 1;
            } else {
                *syncing = false;
                *issued = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_syncs_when_a_group_has_ended() {
        let sync = Op::Fdatasync;
        let mut log = Flow::Log { every: 2, sync, issued: 0, writing: 0, syncing: false };
        for _ in 0..3 {
            for _ in 0..2 {
                assert_eq!(log.next(), Next::Access);
                log.issued(Op::Write);
            }
            assert_eq!(log.next(), Next::Wait, "the group is in flight");
            log.ended(Op::Write);
            assert_eq!(log.next(), Next::Wait, "half of it is");
            log.ended(Op::Write);
            assert_eq!(log.next(), Next::Sync(sync));
            log.issued(sync);
            assert_eq!(log.next(), Next::Wait, "the sync is in flight");
            log.ended(sync);
        }
    }
}
