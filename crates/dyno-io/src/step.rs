//! One step: a fixed number of I/Os kept in flight for a time.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use dyno_record::{Control, Error, ErrorKind, Latency, Result};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::arena::stamp;
use crate::engine::{Completion, Engine, Request};
use crate::pattern::Pattern;

/// Longest wait between two looks at the clock and at the control handle.
const TICK: Duration = Duration::from_millis(50);
/// Failed I/Os that end a step.
const MOST_ERRORS: u64 = 100;
/// Failed I/Os that end a step in which nothing has succeeded.
const MOST_FIRST_ERRORS: u64 = 10;

/// What to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spec {
    pub(crate) queue_depth: u32,
    pub(crate) block_bytes: u32,
    pub(crate) warmup_ns: u64,
    pub(crate) measured_ns: u64,
}

/// What was seen between `start_ns` and `end_ns` on the engine's clock.
///
/// Identities: `reads` = latencies in `read`, `writes` = latencies in `write`. An I/O counts where
/// it ended. `errors` holds the failures of the whole step, warm-up included.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
    pub(crate) read: Latency,
    pub(crate) write: Latency,
    pub(crate) errors: BTreeMap<ErrorKind, u64>,
    /// Why the step ended early.
    pub(crate) failure: Option<Error>,
    /// Time until the last I/O in flight at `end_ns` ended.
    pub(crate) drain_ns: u64,
    /// Sum over all I/Os of their time in flight between start and end.
    in_flight_ns: u64,
    succeeded: u64,
    failed: u64,
}

/// Keeps `spec.queue_depth` I/Os in flight. `tick` hears now and then of the time since the start
/// (ns) and of the bytes moved since it last heard.
///
/// # Errors
/// `cancelled`, or `io`/`internal` if the engine can not go on. Failed I/Os are in the tally.
pub(crate) fn run(
    engine: &mut dyn Engine,
    pattern: &mut Pattern,
    data: &mut Xoshiro256PlusPlus,
    spec: Spec,
    control: &Control,
    mut tick: impl FnMut(u64, u64),
) -> Result<Tally> {
    let depth = spec.queue_depth as usize;
    let mut requests = vec![Request::default(); depth];
    let mut idle: Vec<u32> = (0..spec.queue_depth).rev().collect();
    let mut batch = Vec::with_capacity(depth);
    let mut done = Vec::with_capacity(depth);

    let begin_ns = engine.now_ns();
    let mut tally = Tally::new(begin_ns + spec.warmup_ns, spec.measured_ns);
    let (mut next_tick_ns, mut bytes) = (begin_ns, 0);
    loop {
        let now_ns = engine.now_ns();
        if now_ns >= next_tick_ns {
            tick(now_ns - begin_ns, std::mem::take(&mut bytes));
            next_tick_ns = now_ns + TICK.as_nanos() as u64;
        }
        control.check()?;
        if now_ns >= tally.end_ns {
            break;
        }
        if tally.is_hopeless(depth) {
            tally.cut(now_ns);
            break;
        }
        batch.clear();
        for slot in idle.drain(..) {
            let access = pattern.access();
            if access.write {
                stamp(engine.buffer_mut(slot), data);
            }
            let request = Request {
                slot,
                file: 0,
                write: access.write,
                offset: access.offset,
                bytes: spec.block_bytes,
            };
            requests[slot as usize] = request;
            batch.push(request);
        }
        let wait = TICK.min(Duration::from_nanos(tally.end_ns - now_ns));
        engine.turn(&batch, wait, &mut done)?;
        for completion in done.drain(..) {
            bytes += tally.count(&completion, &requests[completion.slot as usize]);
            idle.push(completion.slot);
        }
    }
    while idle.len() < depth {
        control.check()?;
        engine.turn(&[], TICK, &mut done)?;
        for completion in done.drain(..) {
            tally.count(&completion, &requests[completion.slot as usize]);
            idle.push(completion.slot);
        }
    }
    tally.finish(engine.now_ns());
    Ok(tally)
}

impl Tally {
    fn new(start_ns: u64, measured_ns: u64) -> Self {
        Self {
            start_ns,
            end_ns: start_ns + measured_ns,
            reads: 0,
            writes: 0,
            read_bytes: 0,
            write_bytes: 0,
            read: Latency::new(),
            write: Latency::new(),
            errors: BTreeMap::new(),
            failure: None,
            drain_ns: 0,
            in_flight_ns: 0,
            succeeded: 0,
            failed: 0,
        }
    }

    /// Length of the measured part in seconds.
    pub(crate) fn seconds(&self) -> f64 {
        (self.end_ns - self.start_ns) as f64 / 1e9
    }

    /// Mean number of I/Os in flight, which may be less than the depth asked for.
    pub(crate) fn in_flight_mean(&self) -> f64 {
        if self.end_ns > self.start_ns {
            self.in_flight_ns as f64 / (self.end_ns - self.start_ns) as f64
        } else {
            0.0
        }
    }

    /// Counts an I/O, returns the bytes it moved.
    #[inline]
    fn count(&mut self, completion: &Completion, request: &Request) -> u64 {
        let Completion { result, started_ns, ended_ns, .. } = *completion;
        let from_ns = started_ns.max(self.start_ns);
        self.in_flight_ns += ended_ns.min(self.end_ns).saturating_sub(from_ns);
        if result != request.bytes as i32 {
            self.count_error(result, request);
            return 0;
        }
        self.succeeded += 1;
        let bytes = u64::from(request.bytes);
        if ended_ns > self.start_ns && ended_ns <= self.end_ns {
            let latency_ns = ended_ns - started_ns;
            if request.write {
                self.writes += 1;
                self.write_bytes += bytes;
                self.write.record(latency_ns);
            } else {
                self.reads += 1;
                self.read_bytes += bytes;
                self.read.record(latency_ns);
            }
        }
        bytes
    }

    #[cold]
    fn count_error(&mut self, result: i32, request: &Request) {
        let what = format!(
            "{} of {} bytes at offset {}",
            if request.write { "write" } else { "read" },
            request.bytes,
            request.offset
        );
        let error = if result < 0 {
            Error::from_io(&io::Error::from_raw_os_error(-result), what)
        } else {
            Error::new(ErrorKind::Io, format!("only {result} bytes were moved")).context(what)
        };
        self.failed += 1;
        *self.errors.entry(error.kind).or_default() += 1;
        self.failure.get_or_insert(error);
    }

    /// Whether so much has failed that going on is pointless.
    fn is_hopeless(&self, depth: usize) -> bool {
        self.failed > MOST_ERRORS
            || self.succeeded == 0 && self.failed >= MOST_FIRST_ERRORS.max(depth as u64)
    }

    /// Ends the measured part at `now_ns`.
    fn cut(&mut self, now_ns: u64) {
        self.end_ns = now_ns;
        self.start_ns = self.start_ns.min(now_ns);
    }

    /// Settles whether the step failed, now that every I/O has ended.
    fn finish(&mut self, now_ns: u64) {
        self.drain_ns = now_ns.saturating_sub(self.end_ns);
        let hopeless = self.failed > MOST_ERRORS || self.succeeded == 0;
        let (failed, all) = (self.failed, self.failed + self.succeeded);
        self.failure = self
            .failure
            .take()
            .filter(|_| hopeless)
            .map(|error| error.context(format!("{failed} of {all} I/Os failed")));
    }
}
