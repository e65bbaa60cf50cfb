//! No I/O: a modelled device on a simulated clock, for tests with known answers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use dyno_record::{Error, ErrorKind, Result};
use serde::Deserialize;

use super::{Completion, Engine, Name, Request, Setup};

/// A device with `channels` servers in parallel, each of which takes a fixed time for an I/O.
///
/// At queue depth d the rate is min(d, channels) / latency, and above `channels` the latency rises
/// with d / channels (Little's law).
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// Service time of a read, microseconds.
    pub read_us: f64,
    /// Service time of a write, microseconds.
    pub write_us: f64,
    /// I/Os served at once.
    pub channels: u32,
    /// Every n-th I/O takes `slow_us` instead; 0 for none.
    pub slow_every: u64,
    /// Service time of a slow I/O, microseconds.
    pub slow_us: f64,
    /// Every n-th I/O fails with `EIO`; 0 for none.
    pub fail_every: u64,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            read_us: 100.0,
            write_us: 100.0,
            channels: 32,
            slow_every: 0,
            slow_us: 0.0,
            fail_every: 0,
        }
    }
}

impl Model {
    /// Refuses a device that would never end an I/O, or end it in no time.
    pub(crate) fn check(&self) -> Result<()> {
        let sane = |us: f64| (1.0..=3.6e9).contains(&us);
        let slow = self.slow_every == 0 || sane(self.slow_us);
        if self.channels > 0 && sane(self.read_us) && sane(self.write_us) && slow {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Usage,
            "null: at least one channel and service times of 1 µs to 1 h are needed",
        ))
    }
}

/// The engine. Time passes only in [`turn`](Engine::turn), and as fast as it can be computed.
pub struct Null {
    model: Model,
    now_ns: u64,
    count: u64,
    buffer: Vec<u8>,
    busy: Vec<bool>,
    /// When each channel becomes free, earliest first.
    free_ns: BinaryHeap<Reverse<u64>>,
    /// I/Os in flight, the first to end on top: (end, slot, start, result).
    in_flight: BinaryHeap<Reverse<(u64, u32, u64, i32)>>,
}

impl Null {
    /// A fresh device at `setup.start_ns`.
    pub fn open(setup: &Setup<'_>) -> Self {
        Self {
            model: setup.null.clone(),
            now_ns: setup.start_ns,
            count: 0,
            buffer: vec![0; setup.block_bytes as usize],
            busy: vec![false; setup.slots as usize],
            free_ns: (0..setup.null.channels).map(|_| Reverse(setup.start_ns)).collect(),
            in_flight: BinaryHeap::with_capacity(setup.slots as usize),
        }
    }

    fn start(&mut self, request: &Request) {
        let busy = &mut self.busy[request.slot as usize];
        assert!(!std::mem::replace(busy, true), "slot {} is busy", request.slot);
        assert!(request.bytes as usize <= self.buffer.len(), "a request fits its buffer");
        self.count += 1;
        let nth = |every: u64| every > 0 && self.count.is_multiple_of(every);
        let service_us = match (nth(self.model.slow_every), request.write) {
            (true, _) => self.model.slow_us,
            (false, true) => self.model.write_us,
            (false, false) => self.model.read_us,
        };
        let result = if nth(self.model.fail_every) { -libc::EIO } else { request.bytes as i32 };
        let Reverse(free_ns) = self.free_ns.pop().expect("a device has a channel");
        let end_ns = free_ns.max(self.now_ns) + (service_us * 1e3) as u64;
        self.free_ns.push(Reverse(end_ns));
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

    /// One scratch buffer serves all slots: nobody reads it.
    fn buffer_mut(&mut self, slot: u32) -> &mut [u8] {
        assert!(!self.busy[slot as usize], "slot {slot} is busy");
        &mut self.buffer
    }

    fn turn(
        &mut self,
        batch: &[Request],
        timeout: Duration,
        done: &mut Vec<Completion>,
    ) -> Result<()> {
        for request in batch {
            self.start(request);
        }
        let Some(Reverse(first)) = self.in_flight.peek() else { return Ok(()) };
        self.now_ns = first.0.min(self.now_ns + timeout.as_nanos() as u64);
        while let Some(&Reverse((ended_ns, slot, started_ns, result))) = self.in_flight.peek() {
            if ended_ns > self.now_ns {
                break;
            }
            self.in_flight.pop();
            self.busy[slot as usize] = false;
            done.push(Completion { slot, result, started_ns, ended_ns });
        }
        Ok(())
    }
}
