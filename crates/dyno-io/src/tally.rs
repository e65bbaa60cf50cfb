//! Counts of I/Os over a period.

use std::collections::BTreeMap;

use dyno_record::Latency;

use crate::engine::Op;
use crate::fault::Fault;
use crate::plan::Job;

/// An I/O of an open loop counts as late if it was issued later than this after it was due.
const LATE_NS: u64 = 1_000_000;

/// Running totals of one job, on one or several targets.
///
/// Identities: `reads` = latencies in `read` = those in `read_response` for a job with a rate; the
/// same for writes, and for syncs without response. Failed I/Os are in `errors` only.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counts {
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) syncs: u64,
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
    /// How many of those were issued more than 1 ms after they were due.
    pub(crate) late: u64,
    /// Due in this period and not issued by its end.
    pub(crate) unissued: u64,
    pub(crate) errors: BTreeMap<Fault, u64>,
    /// Service time: from just before submission to the end.
    pub(crate) read: Option<Latency>,
    pub(crate) write: Option<Latency>,
    pub(crate) sync: Option<Latency>,
    /// Response time: from when the I/O was due to its end.
    pub(crate) read_response: Option<Latency>,
    pub(crate) write_response: Option<Latency>,
}

/// A successful I/O.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FinishedIo {
    pub(crate) op: Op,
    pub(crate) bytes: u32,
    pub(crate) service_ns: u64,
    /// Time from when it was due to its end; `None` in a closed loop.
    pub(crate) response_ns: Option<u64>,
    /// Whether it had to wait for another I/O first and so could not be issued when due.
    pub(crate) second: bool,
}

impl Counts {
    /// Empty totals with space for everything that `job` can do, so that counting never allocates.
    pub(crate) fn of(job: &Job) -> Self {
        let room = |wanted: bool| wanted.then(Latency::new);
        let paced = job.rate.is_some();
        Self {
            read: room(job.reads()),
            write: room(job.writes()),
            sync: room(job.sync.is_some()),
            read_response: room(job.reads() && paced),
            write_response: room(job.writes() && paced),
            ..Self::default()
        }
    }

    /// Counts an I/O.
    #[inline]
    pub(crate) fn add(&mut self, ended: &FinishedIo) {
        let (service, response) = match ended.op {
            Op::Read => {
                self.reads += 1;
                self.read_bytes += u64::from(ended.bytes);
                (&mut self.read, Some(&mut self.read_response))
            }
            Op::Write => {
                self.writes += 1;
                self.write_bytes += u64::from(ended.bytes);
                (&mut self.write, Some(&mut self.write_response))
            }
            Op::Fsync | Op::Fdatasync => {
                self.syncs += 1;
                (&mut self.sync, None)
            }
        };
        service.get_or_insert_default().record(ended.service_ns);
        if let (Some(latency), Some(ns)) = (response, ended.response_ns) {
            latency.get_or_insert_default().record(ns);
            self.late += u64::from(!ended.second && ns > ended.service_ns + LATE_NS);
        }
    }

    /// Counts a failed I/O.
    #[cold]
    pub(crate) fn fail(&mut self, fault: Fault) {
        *self.errors.entry(fault).or_default() += 1;
    }

    /// Adds all of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.syncs += other.syncs;
        self.read_bytes += other.read_bytes;
        self.write_bytes += other.write_bytes;
        self.late += other.late;
        self.unissued += other.unissued;
        for (fault, count) in &other.errors {
            *self.errors.entry(*fault).or_default() += count;
        }
        for (mine, theirs) in [
            (&mut self.read, &other.read),
            (&mut self.write, &other.write),
            (&mut self.sync, &other.sync),
            (&mut self.read_response, &other.read_response),
            (&mut self.write_response, &other.write_response),
        ] {
            match (mine.as_mut(), theirs) {
                (Some(mine), Some(theirs)) => mine.merge(theirs),
                (None, Some(theirs)) => *mine = Some(theirs.clone()),
                (_, None) => {}
            }
        }
    }
}
