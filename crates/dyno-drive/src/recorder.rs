//! The measurements of one driver thread, sent at the end of each interval.

use std::collections::BTreeMap;
use std::sync::mpsc::Sender;

use dyno_record::{Error, ErrorKind, Latency, OpTotals};

use crate::cpu::thread_cpu_ns;
use crate::parts::{Part, Parts};
use crate::window::Window;
use crate::workloads::contract::TxnOutcome;

/// Messages from driver threads to the aggregator.
#[derive(Debug)]
pub enum Message {
    /// The thread's users are connected.
    Ready,
    /// The thread has failed, and so has the run.
    Failed(Error),
    /// An interval has ended.
    Interval(Interval),
    /// All users of the thread have lost the server permanently.
    Stranded(Error),
    /// The thread has ended, after all its intervals.
    Finished(Box<Report>),
}

/// A thread's measurements in one interval.
#[derive(Debug)]
pub struct Interval {
    /// See [`Window`].
    pub index: i64,
    /// When the thread closed it; earlier than planned if the run was stopped.
    pub end_ns: u64,
    /// Totals by operation.
    pub ops: Vec<OpTotals>,
}

/// A thread's totals in the measured window that belong to no operation.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// CPU time of the thread in the window.
    pub cpu_ns: u64,
    /// Values for each part of the window.
    pub parts: Vec<Part>,
    /// See [`Outcome::scheduled`](crate::Outcome::scheduled).
    pub scheduled: u64,
    /// See [`Outcome::late`](crate::Outcome::late).
    pub late: u64,
    /// See [`Outcome::unsent`](crate::Outcome::unsent).
    pub unsent: u64,
    /// See [`Outcome::carried_over`](crate::Outcome::carried_over).
    pub carried_over: u64,
    /// See [`Outcome::unfinished`](crate::Outcome::unfinished).
    pub unfinished: u64,
    /// See [`Outcome::stuck`](crate::Outcome::stuck).
    pub stuck: u64,
    /// See [`Outcome::reconnects`](crate::Outcome::reconnects).
    pub reconnects: u64,
    /// Users with a connection at the end.
    pub connected: u64,
    /// When the last operation of the window ended, monotonic; 0 if none did.
    pub last_ns: u64,
    /// See [`Outcome::schedule_late_ms`](crate::Outcome::schedule_late_ms).
    pub schedule_late: Latency,
    /// See [`Outcome::errors_first`](crate::Outcome::errors_first).
    pub errors_first: BTreeMap<ErrorKind, String>,
}

/// How an open loop's start was served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// A session was free.
    OnTime,
    /// It was sent when a session became free.
    Late,
    /// It was never sent.
    Unsent,
}

/// Counts what the users of a thread do.
#[derive(Debug)]
pub struct Recorder {
    window: Window,
    /// The open interval; after the window, past the last one.
    index: i64,
    /// When the open interval ends.
    until_ns: u64,
    ops: Vec<OpTotals>,
    parts: Parts,
    /// The part that contains the open interval.
    part: Option<usize>,
    /// CPU time of the thread at the start of that part.
    cpu_ns: u64,
    out: Sender<Message>,
    /// Totals outside the intervals.
    pub report: Report,
}

impl Recorder {
    /// Creates a recorder for `operations` operations that reports to `out`.
    pub fn new(window: Window, operations: usize, out: Sender<Message>) -> Self {
        let index = window.index_at(window.start_ns);
        let until_ns = window.bounds(index).1;
        let ops = fresh(operations);
        let parts = Parts::of(&window);
        let (part, cpu_ns) = (parts.part_of(index), thread_cpu_ns());
        let report = Report { parts: parts.fresh(), ..Report::default() };
        Self { window, index, until_ns, ops, parts, part, cpu_ns, out, report }
    }

    /// Counts an operation that is sent now and was due at `intended_ns`.
    #[inline]
    pub fn begun(&mut self, intended_ns: u64) {
        self.report.carried_over += u64::from(intended_ns < self.window.measure_ns);
    }

    /// Counts an operation that has ended; after the window, as unfinished.
    #[inline]
    pub fn ended(
        &mut self,
        op: usize,
        end_ns: u64,
        response_ns: u64,
        service_ns: u64,
        ended: TxnOutcome,
    ) {
        self.left_behind(end_ns);
        if let Some(totals) = self.at(op, end_ns) {
            match ended {
                TxnOutcome::Committed => totals.done += 1,
                TxnOutcome::RolledBack => totals.rolled_back += 1,
            }
            totals.response.record(response_ns);
            totals.service.record(service_ns);
        } else {
            self.report.unfinished += 1;
        }
    }

    /// Counts an operation that failed; after the window, as unfinished.
    pub fn failed(&mut self, op: usize, end_ns: u64, error: &Error) {
        self.first(error);
        self.left_behind(end_ns);
        if let Some(totals) = self.at(op, end_ns) {
            *totals.errors.entry(error.kind).or_default() += 1;
        } else {
            self.report.unfinished += 1;
        }
    }

    /// Counts an attempt that will be retried.
    pub fn retried(&mut self, op: usize, now_ns: u64, error: &Error) {
        self.first(error);
        if let Some(totals) = self.at(op, now_ns) {
            *totals.retries.entry(error.kind).or_default() += 1;
        }
    }

    /// Keeps the first message of each class.
    pub fn first(&mut self, error: &Error) {
        self.report.errors_first.entry(error.kind).or_insert_with(|| error.to_string());
    }

    /// Counts a start of an open loop that was due at `due_ns`.
    #[inline]
    pub fn due(&mut self, due_ns: u64, fate: Fate) {
        let Some(part) = self.part_at(due_ns) else { return };
        part.scheduled += 1;
        part.late += u64::from(fate != Fate::OnTime);
        self.report.scheduled += 1;
        self.report.late += u64::from(fate == Fate::Late);
        self.report.unsent += u64::from(fate == Fate::Unsent);
    }

    /// Counts lateness of `late_ns` that is due to the driver alone, for a start due at `due_ns`.
    #[inline]
    pub fn lag(&mut self, due_ns: u64, late_ns: u64) {
        if let Some(part) = self.part_at(due_ns) {
            part.lag.record(late_ns);
        }
    }

    /// Sends the intervals that ended by `now_ns`.
    #[inline]
    pub fn advance(&mut self, now_ns: u64) {
        while now_ns >= self.until_ns && self.is_open() {
            self.close(self.until_ns);
        }
    }

    /// Shortens the time line to end with a future interval.
    pub fn cut(&mut self, window: Window) {
        self.window = window;
    }

    /// Sends the open interval, cut at `now_ns`, and closes the recorder.
    pub fn stop(&mut self, now_ns: u64) {
        self.advance(now_ns);
        if self.is_open() {
            self.close(now_ns);
            self.index = self.window.last() + 1;
        }
    }

    /// What ends in the warm-up is not carried over.
    #[inline]
    fn left_behind(&mut self, end_ns: u64) {
        self.report.carried_over -= u64::from(end_ns < self.window.measure_ns);
    }

    fn is_open(&self) -> bool {
        self.index <= self.window.last()
    }

    /// The part of the window that contains a moment.
    #[inline]
    fn part_at(&mut self, now_ns: u64) -> Option<&mut Part> {
        let index = self.window.is_measured(now_ns).then(|| self.window.index_at(now_ns))?;
        self.parts.part_of(index).and_then(|part| self.report.parts.get_mut(part))
    }

    #[inline]
    fn at(&mut self, op: usize, now_ns: u64) -> Option<&mut OpTotals> {
        self.advance(now_ns);
        if !self.is_open() {
            return None;
        }
        self.report.last_ns = self.report.last_ns.max(now_ns);
        self.ops.get_mut(op)
    }

    #[cold]
    fn close(&mut self, end_ns: u64) {
        let fresh = fresh(self.ops.len());
        let ops = std::mem::replace(&mut self.ops, fresh);
        // The receiver is gone only if the run has failed elsewhere.
        let _ = self.out.send(Message::Interval(Interval { index: self.index, end_ns, ops }));
        if let Some(part) = self.part {
            let (start_ns, _) = self.window.bounds(self.index);
            self.report.parts[part].seconds += end_ns.saturating_sub(start_ns) as f64 / 1e9;
        }
        self.index += 1;
        self.until_ns = self.window.bounds(self.index).1;
        let next = if self.is_open() { self.parts.part_of(self.index) } else { None };
        if next != self.part {
            let cpu_ns = thread_cpu_ns();
            if let Some(part) = self.part {
                self.report.parts[part].cpu_ns = cpu_ns - self.cpu_ns;
            }
            (self.part, self.cpu_ns) = (next, cpu_ns);
        }
    }
}

/// Empty totals, each newly allocated. A clone would touch all its memory, which takes as long as
/// hundreds of transactions; untouched memory costs nothing.
fn fresh(operations: usize) -> Vec<OpTotals> {
    std::iter::repeat_with(OpTotals::default).take(operations).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    const S: u64 = 1_000_000_000;

    fn intervals(received: &mpsc::Receiver<Message>) -> Vec<Interval> {
        received
            .try_iter()
            .map(|message| match message {
                Message::Interval(interval) => interval,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn operations_count_in_the_interval_of_their_end() {
        let (out, received) = mpsc::channel();
        let mut recorder = Recorder::new(Window::new(0, 1.0, 2.0, 1.0), 2, out);
        for intended_ns in [S - 11, S - 10, S - 5, S, 3 * S - 10] {
            recorder.begun(intended_ns);
        }
        recorder.ended(0, S - 1, 10, 5, TxnOutcome::Committed);
        recorder.ended(1, S, 10, 5, TxnOutcome::RolledBack);
        recorder.retried(1, S + 1, &Error::new(ErrorKind::Deadlock, "d"));
        recorder.failed(1, 2 * S, &Error::new(ErrorKind::Timeout, "t"));
        recorder.ended(0, 3 * S, 10, 5, TxnOutcome::Committed);
        recorder.advance(9 * S);
        let closed = intervals(&received);
        assert_eq!(closed.iter().map(|it| it.index).collect::<Vec<_>>(), [-1, 0, 1]);
        assert_eq!(closed[0].ops[0].done, 1);
        assert_eq!((closed[1].ops[1].rolled_back, closed[1].ops[1].retries.len()), (1, 1));
        assert_eq!(closed[2].ops[1].errors[&ErrorKind::Timeout], 1);
        assert_eq!(closed[2].ops[0].done, 0, "it ended after the window");
        assert_eq!(recorder.report.unfinished, 1);
        assert_eq!(recorder.report.last_ns, 2 * S, "the last one within the window");
        assert_eq!(
            recorder.report.carried_over, 2,
            "due in the warm-up, one of the three ended in it"
        );
    }

    #[test]
    fn a_stopped_recorder_closes_its_interval_short_and_counts_no_more() {
        let (out, received) = mpsc::channel();
        let mut recorder = Recorder::new(Window::new(0, 0.0, 5.0, 1.0), 1, out);
        recorder.ended(0, S / 2, 1, 1, TxnOutcome::Committed);
        recorder.stop(S * 3 / 2);
        recorder.ended(0, S * 2, 1, 1, TxnOutcome::Committed);
        recorder.stop(S * 3);
        let closed = intervals(&received);
        let ends: Vec<_> = closed.iter().map(|it| (it.index, it.end_ns)).collect();
        assert_eq!(ends, [(0, S), (1, S * 3 / 2)]);
        assert_eq!(closed[1].ops[0].done, 0);
    }
}
