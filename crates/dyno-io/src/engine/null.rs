//! No I/O: modelled devices on a simulated clock, for tests with known answers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use dyno_record::{Error, ErrorKind, Result};
use serde::Deserialize;

use super::{Completion, Engine, Name, Op, Request, Setup};

/// One device per target, with `channels` parallel servers. Each takes a fixed time per I/O.
///
/// At queue depth d the rate is min(d, channels) / latency. Above `channels` the latency rises with
/// d / channels (Little's law).
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// Service time of a read, microseconds.
    pub read_us: f64,
    /// Service time of a write, microseconds.
    pub write_us: f64,
    /// Service time of a sync, microseconds.
    pub sync_us: f64,
    /// I/Os served at once.
    pub channels: u32,
    /// Every n-th I/O takes `slow_us`; 0 for none.
    pub slow_every: u64,
    /// Service time of a slow I/O, microseconds.
    pub slow_us: f64,
    /// A stall ends each of these periods, milliseconds: no service starts in its last `stall_ms`.
    /// 0 for none.
    pub stall_every_ms: f64,
    /// Length of a stall, milliseconds.
    pub stall_ms: f64,
    /// Every n-th I/O fails with `EIO`; 0 for none.
    pub fail_every: u64,
    /// Every n-th I/O moves half its bytes; 0 for none.
    pub short_every: u64,
    /// Writes after the n-th of a step fail with `ENOSPC`; 0 for none.
    pub full_after: u64,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            read_us: 100.0,
            write_us: 100.0,
            sync_us: 100.0,
            channels: 32,
            slow_every: 0,
            slow_us: 0.0,
            stall_every_ms: 0.0,
            stall_ms: 0.0,
            fail_every: 0,
            short_every: 0,
            full_after: 0,
        }
    }
}

impl Model {
    /// Refuses a device that would never complete an I/O, or complete it in no time.
    pub(crate) fn check(&self) -> Result<()> {
        let sane = |us: f64| (1.0..=3.6e9).contains(&us);
        let slow = self.slow_every == 0 || sane(self.slow_us);
        let times = [self.read_us, self.write_us, self.sync_us];
        if self.channels == 0 || !slow || !times.into_iter().all(sane) {
            return wrong("at least one channel and service times of 1 µs to 1 h are needed");
        }
        let lengths = 0.0..=3.6e6;
        if !lengths.contains(&self.stall_every_ms)
            || !lengths.contains(&self.stall_ms)
            || self.stall_ms > 0.0 && self.stall_ms >= self.stall_every_ms
        {
            return wrong("a stall must be shorter than stall_every_ms, at most 1 h");
        }
        Ok(())
    }

    fn service_ns(&self, op: Op, slow: bool) -> u64 {
        let us = match op {
            _ if slow => self.slow_us,
            Op::Read => self.read_us,
            Op::Write => self.write_us,
            Op::Fsync | Op::Fdatasync => self.sync_us,
        };
        (us * 1e3) as u64
    }

    /// When a service that could start `ns` after the start may begin.
    fn after_stall(&self, ns: u64) -> u64 {
        let (every, stall) = ((self.stall_every_ms * 1e6) as u64, (self.stall_ms * 1e6) as u64);
        if stall == 0 || ns % every < every - stall { ns } else { ns.next_multiple_of(every) }
    }
}

fn wrong(message: &str) -> Result<()> {
    Err(Error::new(ErrorKind::Usage, format!("null: {message}")))
}

/// When each channel of a device becomes free, earliest first.
type Channels = BinaryHeap<Reverse<u64>>;

/// The engine. Time passes only in [`submit_and_wait`](Engine::submit_and_wait) and
/// [`pause`](Engine::pause), as fast as it can be computed.
pub struct Null {
    model: Model,
    start_ns: u64,
    now_ns: u64,
    count: u64,
    writes: u64,
    buffer: Vec<u8>,
    busy: Vec<bool>,
    /// One device per file that a request has used.
    devices: Vec<Channels>,
    /// I/Os in flight, the first to end on top: (end, slot, start, result).
    in_flight: BinaryHeap<Reverse<(u64, u32, u64, i32)>>,
}

impl Null {
    /// Creates idle devices at `setup.start_ns`.
    pub fn open(setup: &Setup<'_>) -> Self {
        Self {
            model: setup.null.clone(),
            start_ns: setup.start_ns,
            now_ns: setup.start_ns,
            count: 0,
            writes: 0,
            buffer: vec![0; setup.slots.iter().copied().max().unwrap_or(0) as usize],
            busy: vec![false; setup.slots.len()],
            devices: Vec::new(),
            in_flight: BinaryHeap::with_capacity(setup.slots.len()),
        }
    }

    fn start(&mut self, request: &Request) {
        let busy = &mut self.busy[request.slot as usize];
        assert!(!std::mem::replace(busy, true), "slot {} is busy", request.slot);
        assert!(request.bytes as usize <= self.buffer.len(), "a request fits its buffer");
        let device = request.file as usize;
        while self.devices.len() <= device {
            let free = (0..self.model.channels).map(|_| Reverse(self.start_ns));
            self.devices.push(free.collect());
        }
        self.count += 1;
        self.writes += u64::from(request.op == Op::Write);
        let nth = |every: u64| every > 0 && self.count.is_multiple_of(every);
        let service_ns = self.model.service_ns(request.op, nth(self.model.slow_every));
        let Reverse(free_ns) = self.devices[device].pop().expect("a device has a channel");
        let wanted_ns = free_ns.max(self.now_ns) - self.start_ns;
        let end_ns = self.start_ns + self.model.after_stall(wanted_ns) + service_ns;
        self.devices[device].push(Reverse(end_ns));
        let full = self.model.full_after > 0 && self.writes > self.model.full_after;
        let result = match request.op {
            Op::Write if full => -libc::ENOSPC,
            _ if nth(self.model.fail_every) => -libc::EIO,
            _ if nth(self.model.short_every) => (request.bytes / 2) as i32,
            _ => request.bytes as i32,
        };
        self.in_flight.push(Reverse((end_ns, request.slot, self.now_ns, result)));
    }
}

impl Engine for Null {
    fn name(&self) -> Name {
        Name::Null
    }

    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// All slots share one scratch buffer, because it is never read.
    fn buffer_mut(&mut self, slot: u32) -> &mut [u8] {
        assert!(!self.busy[slot as usize], "slot {slot} is busy");
        &mut self.buffer
    }

    fn submit_and_wait(
        &mut self,
        batch: &[Request],
        timeout: Duration,
        done: &mut Vec<Completion>,
    ) -> Result<u64> {
        for request in batch {
            self.start(request);
        }
        let Some(Reverse(first)) = self.in_flight.peek() else { return Ok(self.now_ns) };
        self.now_ns = first.0.min(self.now_ns + timeout.as_nanos() as u64);
        while let Some(&Reverse((ended_ns, slot, started_ns, result))) = self.in_flight.peek() {
            if ended_ns > self.now_ns {
                break;
            }
            self.in_flight.pop();
            self.busy[slot as usize] = false;
            done.push(Completion { slot, result, started_ns, ended_ns });
        }
        Ok(self.now_ns)
    }

    fn pause(&mut self, time: Duration) -> u64 {
        self.now_ns += time.as_nanos() as u64;
        self.now_ns
    }
}
