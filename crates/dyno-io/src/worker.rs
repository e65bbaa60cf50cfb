//! A worker: one thread, one engine, many lanes.

mod current;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use dyno_record::{Control, Error, Result};
use rustix::time::{ClockId, clock_gettime};

use crate::engine::Completion;
use crate::health::Health;
use crate::lane::{End, Lane, Submitter};
use crate::window::Window;
use current::Current;

pub(crate) use current::Intervals;

/// Maximum time between two checks of the clock and the control handle.
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// State that all workers of a step share.
pub(crate) struct Shared<'a> {
    pub(crate) control: &'a Control,
    pub(crate) health: Health,
    /// Number of workers.
    pub(crate) workers: usize,
    /// Set when a worker fails, so that the others stop.
    pub(crate) stop: AtomicBool,
}

/// The results of a worker.
pub(crate) struct Share {
    pub(crate) lanes: Vec<Lane>,
    pub(crate) window: Window,
    /// Time from the end of the window until its last I/O ended.
    pub(crate) drain_ns: u64,
    /// The engine's clock at the end.
    pub(crate) now_ns: u64,
    /// CPU time of the thread, as a share of the time until the window ended.
    pub(crate) busy: f64,
    /// I/Os that succeeded.
    pub(crate) succeeded: u64,
    /// The first failure, and the index of its target in the plan.
    pub(crate) failure: Option<(usize, Error)>,
}

/// Drives `lanes` through the window.
///
/// # Errors
/// `cancelled`, or `io`/`internal` if the engine fails. Failed I/Os are in the lanes.
pub(crate) fn run<'a>(
    lanes: Vec<Lane>,
    submitter: Submitter<'a>,
    window: Window,
    intervals: Option<&'a Intervals<'a>>,
    shared: &'a Shared<'a>,
) -> Result<Share> {
    let depth = submitter.slots.len();
    let paced = lanes.iter().any(|lane| lane.pace.is_some());
    let mut worker = Worker {
        paced,
        lanes,
        submitter,
        window,
        shared,
        current: intervals.map(|intervals| Current::new(intervals, window)),
        done: Vec::with_capacity(depth),
        in_flight: 0,
        bytes: 0,
        succeeded: 0,
    };
    let (begun, begun_cpu_ns) = (Instant::now(), thread_cpu_ns());
    worker.measure()?;
    let cpu_ns = thread_cpu_ns().saturating_sub(begun_cpu_ns);
    let busy = cpu_ns as f64 / begun.elapsed().as_nanos().max(1) as f64;
    worker.drain()?;
    worker.share(busy)
}

/// CPU time of this thread.
fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

struct Worker<'a> {
    lanes: Vec<Lane>,
    paced: bool,
    submitter: Submitter<'a>,
    window: Window,
    shared: &'a Shared<'a>,
    current: Option<Current<'a>>,
    done: Vec<Completion>,
    in_flight: usize,
    /// Bytes moved since the last report.
    bytes: u64,
    succeeded: u64,
}

impl Worker<'_> {
    fn measure(&mut self) -> Result<()> {
        let mut now_ns = self.submitter.engine.now_ns();
        let mut next_tick_ns = now_ns;
        for lane in &mut self.lanes {
            lane.issue(now_ns, &mut self.submitter);
        }
        loop {
            if now_ns >= next_tick_ns {
                self.shared.control.add(0, std::mem::take(&mut self.bytes));
                next_tick_ns = now_ns + TICK.as_nanos() as u64;
            }
            self.shared.control.check()?;
            if now_ns >= self.window.end_ns {
                return Ok(());
            }
            if self.shared.stop.load(Relaxed) || self.shared.health.is_hopeless() {
                self.shared.stop.store(true, Relaxed);
                self.window.end_ns = now_ns;
                self.window.start_ns = self.window.start_ns.min(now_ns);
                return Ok(());
            }
            now_ns = self.turn(now_ns)?;
            self.count(now_ns < self.window.end_ns, now_ns);
            if self.paced && now_ns < self.window.end_ns {
                for lane in self.lanes.iter_mut().filter(|lane| lane.pace.is_some()) {
                    lane.issue(now_ns, &mut self.submitter);
                }
            }
            if let Some(current) = &mut self.current {
                current.hand_on(&mut self.lanes, self.shared.control)?;
            }
        }
    }

    /// Submits the batch, then waits for the first of: a completion, the next due time, the end of
    /// the window, a tick.
    fn turn(&mut self, now_ns: u64) -> Result<u64> {
        let mut until_ns = self.window.end_ns;
        if self.paced {
            let wake_ns = self.lanes.iter().filter_map(Lane::wake_ns).min();
            until_ns = until_ns.min(wake_ns.unwrap_or(until_ns)).max(now_ns);
        }
        let timeout = TICK.min(Duration::from_nanos(until_ns - now_ns));
        self.in_flight += self.submitter.batch.len();
        if self.in_flight == 0 {
            return Ok(self.submitter.engine.pause(timeout));
        }
        let now_ns = self.submitter.engine.submit_and_wait(
            &self.submitter.batch,
            timeout,
            &mut self.done,
        )?;
        self.submitter.batch.clear();
        Ok(now_ns)
    }

    /// Counts completions, and issues their follow-ups if `more` is true.
    fn count(&mut self, more: bool, now_ns: u64) {
        let Self { lanes, submitter, window, current, done, .. } = self;
        self.in_flight -= done.len();
        if done.is_empty()
            && let Some(current) = current
        {
            // An interval ends even if nothing has ended in it.
            current.roll(now_ns.min(window.end_ns));
        }
        for completion in done.drain(..) {
            if let Some(current) = current {
                current.roll(completion.ended_ns.min(window.end_ns));
            }
            let lane = &mut lanes[submitter.slots[completion.slot as usize].lane as usize];
            let interval = current.as_mut().map(|current| &mut current.jobs[lane.job]);
            match lane.end(&completion, *window, interval, more, submitter) {
                End::Moved(bytes) => {
                    if self.succeeded == 0 {
                        self.shared.health.succeed();
                    }
                    self.succeeded += 1;
                    self.bytes += bytes;
                }
                End::Failed => self.shared.health.fail(),
            }
            if more {
                lane.issue(now_ns, submitter);
            }
        }
    }

    fn drain(&mut self) -> Result<()> {
        while self.in_flight > 0 {
            self.shared.control.check()?;
            let now_ns = self.submitter.engine.submit_and_wait(&[], TICK, &mut self.done)?;
            self.count(false, now_ns);
        }
        Ok(())
    }

    fn share(mut self, busy: f64) -> Result<Share> {
        self.shared.control.add(0, self.bytes);
        let window = self.window;
        if let Some(mut current) = self.current.take() {
            current.end_at(window.end_ns);
            current.hand_on(&mut self.lanes, self.shared.control)?;
        }
        for lane in &mut self.lanes {
            if let Some(pace) = &mut lane.pace {
                lane.counts.unissued = pace.give_up(window, self.shared.control)?;
            }
        }
        let mut lanes = self.lanes.iter_mut();
        let failure = lanes.find_map(|lane| Some((lane.target, lane.failure.take()?)));
        let now_ns = self.submitter.engine.now_ns();
        Ok(Share {
            lanes: self.lanes,
            window,
            drain_ns: now_ns.saturating_sub(window.end_ns),
            now_ns,
            busy,
            succeeded: self.succeeded,
            failure,
        })
    }
}

#[cfg(test)]
mod tests;
