use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::*;
use crate::engine::{Engine, Name, Request};
use crate::flow::Flow;
use crate::lane::Slot;
use crate::payload::Payload;
use crate::plan::OnError;
use crate::tally::Counts;

/// A device that hangs: no I/O ends before a given time, and only waiting lets time pass.
struct Hanging {
    now_ns: Rc<Cell<u64>>,
    until_ns: u64,
    in_flight: Vec<(u32, u32, u64)>,
    buffer: Vec<u8>,
}

impl Engine for Hanging {
    fn name(&self) -> Name {
        Name::Null
    }

    fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }

    fn buffer_mut(&mut self, _: u32) -> &mut [u8] {
        &mut self.buffer
    }

    fn submit_and_wait(
        &mut self,
        batch: &[Request],
        timeout: Duration,
        done: &mut Vec<Completion>,
    ) -> Result<u64> {
        let start_ns = self.now_ns.get();
        let started = |request: &Request| (request.slot, request.bytes, start_ns);
        self.in_flight.extend(batch.iter().map(started));
        let now_ns = self.pause(timeout);
        if now_ns >= self.until_ns {
            let ended = self.in_flight.drain(..).map(|(slot, bytes, started_ns)| Completion {
                slot,
                result: bytes as i32,
                started_ns,
                ended_ns: now_ns,
            });
            done.extend(ended);
        }
        Ok(now_ns)
    }

    fn pause(&mut self, time: Duration) -> u64 {
        self.now_ns.set(self.now_ns.get() + time.as_nanos() as u64);
        self.now_ns.get()
    }
}

#[test]
fn intervals_are_handed_on_while_a_device_hangs() {
    const MS: u64 = 1_000_000;
    let now_ns = Rc::new(Cell::new(0));
    let mut engine = Hanging {
        now_ns: Rc::clone(&now_ns),
        until_ns: 900 * MS,
        in_flight: Vec::new(),
        buffer: Vec::new(),
    };
    let lane = Lane {
        index: 0,
        job: 0,
        target: 0,
        file: 0,
        pattern: crate::pattern::tests::any(),
        pace: None,
        ahead: None,
        flow: Flow::Free,
        idle: vec![0],
        counts: Counts::default(),
        in_flight_ns: 0,
        failure: None,
    };
    let submitter = Submitter {
        engine: &mut engine,
        slots: vec![Slot::of(0, false)],
        batch: Vec::new(),
        payload: Payload::new(0).unwrap(),
    };
    let seen = RefCell::new(Vec::new());
    let fresh = || vec![Counts::default()];
    let send = |index, end_ns, jobs: Vec<Counts>| {
        seen.borrow_mut().push((index, end_ns, jobs[0].reads, now_ns.get()));
    };
    let intervals = Intervals { length_ns: 200 * MS, fresh: &fresh, send: &send };
    let control = Control::new();
    let health = Health::new(OnError::Stop, 1);
    let shared = Shared { control: &control, health, workers: 1, stop: AtomicBool::new(false) };
    let window = Window { start_ns: 0, end_ns: 1000 * MS };
    run(vec![lane], submitter, window, Some(&intervals), &shared).unwrap();
    let seen = seen.into_inner();
    let told: Vec<_> =
        seen.iter().map(|(index, end_ns, reads, _)| (*index, end_ns / MS, *reads)).collect();
    // From 900 ms on, each wait of 50 ms completes one.
    assert_eq!(told, [(0, 200, 0), (1, 400, 0), (2, 600, 0), (3, 800, 0), (4, 1000, 3)]);
    let tick = TICK.as_nanos() as u64;
    assert!(seen.iter().all(|(_, end_ns, _, at_ns)| *at_ns <= end_ns + tick), "{seen:?}");
}
