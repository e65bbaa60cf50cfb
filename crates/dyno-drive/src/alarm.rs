//! A timer with the precision of the kernel's.
//!
//! tokio's own timers tick in milliseconds, too coarse for a schedule of thousands a second. This
//! one keeps all sleepers of a thread in a heap behind a single `timerfd`.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::task::{Poll, Waker};

use dyno_record::{Error, Result, monotonic_ns};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// The timer of one driver thread. Clones share it.
#[derive(Debug, Clone)]
pub struct Alarm(Rc<State>);

#[derive(Debug)]
struct State {
    fd: AsyncFd<OwnedFd>,
    sleepers: RefCell<BinaryHeap<Reverse<Sleeper>>>,
    /// When the timerfd fires next, `u64::MAX` if it is not armed.
    armed_ns: Cell<u64>,
    rung: Cell<bool>,
}

#[derive(Debug)]
struct Sleeper {
    deadline_ns: u64,
    waker: Waker,
}

impl Alarm {
    /// A timer for the calling thread. Call it inside a tokio runtime with I/O enabled, and have
    /// [`run`](Self::run) polled there.
    ///
    /// # Errors
    /// `io` if the process has no file descriptor left.
    pub fn new() -> Result<Self> {
        let wrap = |error: std::io::Error| Error::from_io(&error, "creating a timer");
        let fd = timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC,
        )
        .map_err(|error| wrap(error.into()))?;
        #[allow(deprecated, reason = "its successor is unsafe; an OwnedFd keeps the obligation")]
        let fd = AsyncFd::with_interest(fd, Interest::READABLE).map_err(wrap)?;
        Ok(Self(Rc::new(State {
            fd,
            sleepers: RefCell::default(),
            armed_ns: Cell::new(u64::MAX),
            rung: Cell::new(false),
        })))
    }

    /// Wakes sleepers as they fall due, for ever.
    ///
    /// # Errors
    /// `io` if the kernel's timer fails.
    pub async fn run(&self) -> Result<Infallible> {
        let wrap = |error: std::io::Error| Error::from_io(&error, "reading a timer");
        loop {
            let mut ready = self.0.fd.readable().await.map_err(wrap)?;
            let mut expirations = [0; 8];
            let read = ready.try_io(|fd| Ok(rustix::io::read(fd, &mut expirations)?));
            if let Ok(result) = read {
                result.map_err(wrap)?;
                self.wake_due(monotonic_ns());
            }
        }
    }

    /// Waits until `deadline_ns` of `CLOCK_MONOTONIC`, or until the alarm is rung.
    pub fn sleep_until(&self, deadline_ns: u64) -> impl Future<Output = ()> + use<> {
        let state = Rc::clone(&self.0);
        poll_fn(move |context| {
            if state.rung.get() || monotonic_ns() >= deadline_ns {
                return Poll::Ready(());
            }
            let waker = context.waker().clone();
            state.sleepers.borrow_mut().push(Reverse(Sleeper { deadline_ns, waker }));
            if deadline_ns < state.armed_ns.get() {
                state.arm(deadline_ns);
            }
            Poll::Pending
        })
    }

    /// Ends every sleep, now and from now on.
    pub fn ring(&self) {
        self.0.rung.set(true);
        for Reverse(sleeper) in self.0.sleepers.borrow_mut().drain() {
            sleeper.waker.wake();
        }
    }

    fn wake_due(&self, now_ns: u64) {
        let mut sleepers = self.0.sleepers.borrow_mut();
        while let Some(Reverse(first)) = sleepers.peek() {
            if first.deadline_ns > now_ns {
                break;
            }
            if let Some(Reverse(sleeper)) = sleepers.pop() {
                sleeper.waker.wake();
            }
        }
        match sleepers.peek() {
            Some(Reverse(next)) => self.0.arm(next.deadline_ns),
            None => self.0.armed_ns.set(u64::MAX),
        }
    }
}

impl State {
    fn arm(&self, deadline_ns: u64) {
        let never = Timespec { tv_sec: 0, tv_nsec: 0 };
        // A zero time would disarm the timer; 1 ns is as long past as any.
        let at = deadline_ns.max(1);
        let value =
            Timespec { tv_sec: (at / 1_000_000_000) as i64, tv_nsec: (at % 1_000_000_000) as _ };
        let spec = Itimerspec { it_interval: never, it_value: value };
        timerfd_settime(self.fd.get_ref(), TimerfdTimerFlags::ABSTIME, &spec)
            .expect("an absolute time is valid for an open timer");
        self.armed_ns.set(deadline_ns);
    }
}

impl PartialEq for Sleeper {
    fn eq(&self, other: &Self) -> bool {
        self.deadline_ns == other.deadline_ns
    }
}

impl Eq for Sleeper {}

impl PartialOrd for Sleeper {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Sleeper {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.deadline_ns.cmp(&other.deadline_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::task::LocalSet;

    fn with_alarm<F: Future<Output = ()> + 'static>(body: impl FnOnce(Alarm) -> F + 'static) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        LocalSet::new().block_on(&runtime, async {
            let alarm = Alarm::new().unwrap();
            let runner = alarm.clone();
            tokio::task::spawn_local(async move { runner.run().await });
            body(alarm).await;
        });
    }

    #[test]
    fn sleepers_wake_in_order_and_never_early() {
        with_alarm(|alarm| async move {
            let start = monotonic_ns();
            let woken = Rc::new(RefCell::new(Vec::new()));
            // Long enough for all to be asleep before the first is due.
            let tasks: Vec<_> = [900_000_000u64, 300_000_000, 600_000_000, 300_000_000]
                .into_iter()
                .map(|delay| {
                    let (alarm, woken) = (alarm.clone(), Rc::clone(&woken));
                    tokio::task::spawn_local(async move {
                        alarm.sleep_until(start + delay).await;
                        assert!(monotonic_ns() >= start + delay);
                        woken.borrow_mut().push(delay);
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
            assert_eq!(*woken.borrow(), [300_000_000, 300_000_000, 600_000_000, 900_000_000]);
        });
    }

    #[test]
    fn a_rung_alarm_ends_every_sleep() {
        with_alarm(|alarm| async move {
            let sleeper = alarm.sleep_until(u64::MAX);
            let task = tokio::task::spawn_local(sleeper);
            tokio::task::yield_now().await;
            alarm.ring();
            task.await.unwrap();
            alarm.sleep_until(u64::MAX).await;
        });
    }
}
