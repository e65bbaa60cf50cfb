//! A timer with kernel precision.
//!
//! tokio's timers have millisecond ticks, too coarse for a schedule of thousands per second. This
//! timer keeps all sleepers of a thread in a heap behind a single `timerfd`. It also wakes due
//! sleepers whenever the thread is awake for another reason, such as an answer.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use dyno_record::{Error, Result, monotonic_ns};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::spacing::Spacing;
use crate::stalls::Stalls;

/// The timer of a driver thread. Clones share it.
#[derive(Debug, Clone)]
pub struct Alarm(Rc<State>);

#[derive(Debug)]
struct State {
    fd: AsyncFd<OwnedFd>,
    sleepers: RefCell<BinaryHeap<Reverse<Sleeper>>>,
    /// Next expiry of the timerfd, `u64::MAX` if it is not armed.
    armed_ns: Cell<u64>,
    spacing: RefCell<Spacing>,
    stalls: RefCell<Stalls>,
    rung: Cell<bool>,
}

#[derive(Debug)]
struct Sleeper {
    deadline_ns: u64,
    /// Waker of the task that polled last.
    waker: Rc<RefCell<Waker>>,
}

impl Alarm {
    /// Creates a timer for the calling thread. Call it inside a tokio runtime with I/O enabled, and
    /// poll [`run`](Self::run) there.
    ///
    /// # Errors
    /// `io` if the process has no file descriptors left.
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
            spacing: RefCell::default(),
            stalls: RefCell::default(),
            rung: Cell::new(false),
        })))
    }

    /// Wakes sleepers when they are due, forever.
    ///
    /// # Errors
    /// `io` if the kernel's timer fails.
    pub async fn run(&self) -> Result<Infallible> {
        poll_fn(|context| {
            // Wake due sleepers once, then let them run. As long as sleepers keep becoming due,
            // there would be one to wake, and none would run before all are awake.
            self.wake_due(monotonic_ns());
            self.watch(context)
        })
        .await
    }

    /// Waits until `deadline_ns` of `CLOCK_MONOTONIC`, or until the alarm rings.
    pub fn sleep_until(&self, deadline_ns: u64) -> impl Future<Output = ()> + use<> {
        let state = Rc::clone(&self.0);
        let mut asleep: Option<Rc<RefCell<Waker>>> = None;
        poll_fn(move |context| {
            if state.rung.get() || monotonic_ns() >= deadline_ns {
                return Poll::Ready(());
            }
            if let Some(waker) = &asleep {
                // Polled for another reason: the entry exists.
                waker.borrow_mut().clone_from(context.waker());
                return Poll::Pending;
            }
            let waker = Rc::new(RefCell::new(context.waker().clone()));
            asleep = Some(Rc::clone(&waker));
            state.sleepers.borrow_mut().push(Reverse(Sleeper { deadline_ns, waker }));
            state.arm_for(deadline_ns);
            Poll::Pending
        })
    }

    /// When the thread resumed after a stall at `at_ns` that kept due work from starting; None
    /// without a stall. `now_ns` is the current time; later calls must not pass an earlier `at_ns`.
    pub fn stalled_until(&self, at_ns: u64, now_ns: u64) -> Option<u64> {
        let state = &*self.0;
        let mut stalls = state.stalls.borrow_mut();
        // The caller may be the first to run again, before the due sleepers are woken.
        if let Some(Reverse(first)) = state.sleepers.borrow().peek() {
            stalls.returned(first.deadline_ns, now_ns);
        }
        stalls.end_of(at_ns)
    }

    /// Ends all sleeps, current and future.
    pub fn ring(&self) {
        self.0.rung.set(true);
        for Reverse(sleeper) in self.0.sleepers.borrow_mut().drain() {
            sleeper.waker.borrow().wake_by_ref();
        }
    }

    fn wake_due(&self, now_ns: u64) {
        let state = &*self.0;
        let mut sleepers = state.sleepers.borrow_mut();
        if let Some(Reverse(first)) = sleepers.peek() {
            state.stalls.borrow_mut().returned(first.deadline_ns, now_ns);
        }
        while let Some(Reverse(first)) = sleepers.peek() {
            if first.deadline_ns > now_ns {
                break;
            }
            if let Some(Reverse(sleeper)) = sleepers.pop() {
                sleeper.waker.borrow().wake_by_ref();
            }
        }
        // Keep a timer that has yet to fire. It may find no sleeper; setting it again for every
        // wake-up costs more.
        if now_ns >= state.armed_ns.get() {
            state.spacing.borrow_mut().fired(now_ns);
            state.armed_ns.set(u64::MAX);
            if let Some(Reverse(next)) = sleepers.peek() {
                state.arm_for(next.deadline_ns);
            }
        }
    }

    /// Registers the calling task for the timer's next expiry.
    fn watch(&self, context: &mut Context<'_>) -> Poll<Result<Infallible>> {
        loop {
            let fired = ready!(self.0.fd.poll_read_ready(context));
            // Reading the timer would cost a system call. Each expiry is a new edge for epoll, and
            // setting the timer clears previous expiries.
            fired.map_err(|error| Error::from_io(&error, "waiting for a timer"))?.clear_ready();
        }
    }
}

impl State {
    /// Arms the timer for `deadline_ns`, or the earliest permitted time after it.
    fn arm_for(&self, deadline_ns: u64) {
        let at_ns = deadline_ns.max(self.spacing.borrow().earliest_ns());
        if at_ns < self.armed_ns.get() {
            self.arm(at_ns);
        }
    }

    fn arm(&self, deadline_ns: u64) {
        let never = Timespec { tv_sec: 0, tv_nsec: 0 };
        // Zero would disarm the timer; 1 ns is in the past, too.
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
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::task::Wake;
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
            // Long enough for all to sleep before the first is due.
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
    fn a_sleeper_that_is_polled_again_is_kept_once() {
        with_alarm(|alarm| async move {
            let mut sleep = pin!(alarm.sleep_until(u64::MAX));
            for _ in 0..100 {
                let again = poll_fn(|context| Poll::Ready(sleep.as_mut().poll(context))).await;
                assert!(again.is_pending());
            }
            assert_eq!(alarm.0.sleepers.borrow().len(), 1);
            // The task that polled last is woken.
            let last = Arc::new(Woken::default());
            let waker = Waker::from(Arc::clone(&last));
            let mut other = Context::from_waker(&waker);
            assert!(sleep.as_mut().poll(&mut other).is_pending());
            assert_eq!(alarm.0.sleepers.borrow().len(), 1);
            alarm.ring();
            assert!(last.0.load(Relaxed));
        });
    }

    #[derive(Default)]
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Relaxed);
        }
    }

    #[test]
    fn a_thread_that_stood_still_is_told() {
        with_alarm(|alarm| async move {
            let start = monotonic_ns();
            let due = start + 500_000_000;
            let task = tokio::task::spawn_local(alarm.sleep_until(due));
            tokio::task::yield_now().await;
            // Nothing else on this thread can run until 300 ms later.
            while monotonic_ns() < due + 300_000_000 {
                std::thread::park_timeout(std::time::Duration::from_millis(50));
            }
            let now = monotonic_ns();
            assert_eq!(alarm.stalled_until(due, now), Some(now), "before anybody is woken");
            task.await.unwrap();
            let now = monotonic_ns();
            assert!(alarm.stalled_until(due, now).unwrap() >= due + 300_000_000);
            assert_eq!(alarm.stalled_until(now, now), None);
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
