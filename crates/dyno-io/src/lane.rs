//! A lane: one job on one target, with its own queue depth.

use dyno_record::{Control, Error, Result};

use crate::engine::{Completion, Engine, Op, Request};
use crate::fault::{self, Fault};
use crate::flow::{Flow, Next};
use crate::pace::Pace;
use crate::pattern::Pattern;
use crate::payload::Payload;
use crate::tally::{Counts, FinishedIo};
use crate::window::Window;

/// The I/O of a slot.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Slot {
    /// Index of the lane that owns it.
    pub(crate) lane: u32,
    /// Reads fill the buffer with data that is not Dyno's, which must not be written elsewhere.
    foreign: bool,
    /// Bytes of the buffer that may hold such data.
    read: u32,
    /// The I/O in flight.
    request: Request,
    /// When the I/O was due, if there is a rate.
    due_ns: u64,
}

impl Slot {
    /// An idle slot of a lane, which reads `foreign` data.
    pub(crate) fn of(lane: u32, foreign: bool) -> Self {
        Self { lane, foreign, ..Self::default() }
    }
}

/// Collects the requests of lanes.
pub(crate) struct Submitter<'a> {
    pub(crate) engine: &'a mut (dyn Engine + 'static),
    /// Indexed by slot.
    pub(crate) slots: Vec<Slot>,
    /// Requests to submit next.
    pub(crate) batch: Vec<Request>,
    pub(crate) payload: Payload,
}

impl Submitter<'_> {
    #[inline]
    fn issue(&mut self, request: Request, due_ns: u64) {
        let slot = &mut self.slots[request.slot as usize];
        if request.op == Op::Write {
            let buffer = self.engine.buffer_mut(request.slot);
            self.payload.renew(&mut buffer[..request.bytes as usize], &mut slot.read);
        } else if slot.foreign {
            slot.read = slot.read.max(request.bytes);
        }
        (slot.request, slot.due_ns) = (request, due_ns);
        self.batch.push(request);
    }
}

/// One job on one target.
pub(crate) struct Lane {
    /// Index among all lanes: by job, then by target of the job.
    pub(crate) index: usize,
    /// Index of the job in its curve.
    pub(crate) job: usize,
    /// Index of the target in the plan.
    pub(crate) target: usize,
    /// Index of the target's file in the engine.
    pub(crate) file: u32,
    pub(crate) pattern: Pattern,
    pub(crate) pace: Option<Pace>,
    /// A copy of `pace` that runs ahead of it, to count I/Os that wait.
    pub(crate) ahead: Option<Pace>,
    pub(crate) flow: Flow,
    /// Slots without an I/O.
    pub(crate) idle: Vec<u32>,
    pub(crate) counts: Counts,
    /// Total time in flight of all I/Os in the window.
    pub(crate) in_flight_ns: u64,
    /// The cause of the first failed I/O.
    pub(crate) failure: Option<Error>,
}

/// How an I/O ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Bytes moved.
    Moved(u64),
    Failed,
}

impl Lane {
    /// Issues everything that may be issued at `now_ns`.
    #[inline]
    pub(crate) fn issue(&mut self, now_ns: u64, submitter: &mut Submitter<'_>) {
        while let Some(&slot) = self.idle.last() {
            let (file, mut due_ns) = (self.file, 0);
            let request = match self.flow.next() {
                Next::Wait => return,
                Next::Sync(op) => Request { slot, file, op, offset: 0, bytes: 0 },
                Next::Access => {
                    if let Some(pace) = &mut self.pace {
                        if pace.due_ns() > now_ns {
                            return;
                        }
                        due_ns = pace.take();
                    }
                    let access = self.pattern.access();
                    let op = if access.write { Op::Write } else { Op::Read };
                    Request { slot, file, op, offset: access.offset, bytes: access.bytes }
                }
            };
            self.idle.pop();
            self.flow.issued(request.op);
            submitter.issue(request, due_ns);
        }
    }

    /// When the next I/O is due; `None` if none waits for its time.
    pub(crate) fn wake_ns(&self) -> Option<u64> {
        let pace = self.pace.as_ref()?;
        (!self.idle.is_empty() && self.flow.next() == Next::Access).then(|| pace.due_ns())
    }

    /// Counts the I/Os that were due in `window`, which is over, and are not issued yet. Call it
    /// for consecutive windows.
    pub(crate) fn waiting(&mut self, window: Window, control: &Control) -> Result<u64> {
        let Some(pace) = &self.pace else { return Ok(0) };
        if pace.due_ns() >= window.end_ns {
            self.ahead = None;
            return Ok(0);
        }
        if pace.due_ns() >= window.start_ns {
            self.ahead = None;
        }
        self.ahead.get_or_insert_with(|| pace.clone()).give_up(window, control)
    }

    /// Whether the lane had nothing to do in the measured part.
    pub(crate) fn had_nothing_due(&self) -> bool {
        self.pace.is_some() && self.in_flight_ns == 0 && self.counts.unissued == 0
    }

    /// Counts a completion, also in `interval`, and frees its slot. If `more` may be issued, a
    /// read-modify-write continues in the slot with its write.
    #[inline]
    pub(crate) fn end(
        &mut self,
        completion: &Completion,
        window: Window,
        interval: Option<&mut Counts>,
        more: bool,
        submitter: &mut Submitter<'_>,
    ) -> End {
        let Completion { slot, result, started_ns, ended_ns } = *completion;
        let Slot { request, due_ns, .. } = submitter.slots[slot as usize];
        self.flow.ended(request.op);
        let from_ns = started_ns.max(window.start_ns);
        self.in_flight_ns += ended_ns.min(window.end_ns).saturating_sub(from_ns);
        let inside = ended_ns > window.start_ns && ended_ns <= window.end_ns;
        if result != request.bytes as i32 {
            self.idle.push(slot);
            self.fail(result, &request, interval.filter(|_| inside));
            return End::Failed;
        }
        let second = self.flow == Flow::Modify && request.op == Op::Write;
        if inside {
            let ended = FinishedIo {
                op: request.op,
                bytes: request.bytes,
                service_ns: ended_ns - started_ns,
                response_ns: self.pace.as_ref().map(|_| ended_ns.saturating_sub(due_ns)),
                second,
            };
            self.counts.add(&ended);
            if let Some(interval) = interval {
                interval.add(&ended);
            }
        }
        if more && self.flow == Flow::Modify && !second {
            submitter.issue(Request { op: Op::Write, ..request }, due_ns);
        } else {
            self.idle.push(slot);
        }
        End::Moved(u64::from(request.bytes))
    }

    #[cold]
    fn fail(&mut self, result: i32, request: &Request, interval: Option<&mut Counts>) {
        let fault = Fault::of(result, request.op);
        self.counts.fail(fault);
        if let Some(interval) = interval {
            interval.fail(fault);
        }
        self.failure.get_or_insert_with(|| fault::error(result, request));
    }
}
