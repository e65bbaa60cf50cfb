//! How a thread waits for a lock of another session or process.
//!
//! Like SQLite's own `busy_timeout`, it retries after increasing pauses. `busy_timeout` itself
//! cannot be interrupted, and a run that is stopped must not wait for it.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;

/// Pauses in milliseconds; the last one repeats. They are SQLite's own: each adds to the latency
/// that SQLite's users see, so other values would measure something else.
/// Source: <https://www.sqlite.org/src/file/src/main.c>, `sqliteDefaultBusyCallback`.
const PAUSES_MS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

thread_local! {
    static PATIENCE: RefCell<Option<Patience>> = const { RefCell::new(None) };
}

#[derive(Debug)]
struct Patience {
    limit: Duration,
    /// Total pause for the current lock.
    waited: Duration,
    leaving: Arc<AtomicBool>,
}

/// Makes this thread's connections wait for locks up to `limit`, or until `leaving` is set and the
/// thread unparked.
///
/// # Errors
/// Errors of SQLite.
pub fn install(
    connection: &Connection,
    limit: Duration,
    leaving: &Arc<AtomicBool>,
) -> rusqlite::Result<()> {
    let patience = Patience { limit, waited: Duration::ZERO, leaving: Arc::clone(leaving) };
    PATIENCE.with_borrow_mut(|slot| *slot = Some(patience));
    // The handler is a plain function, so its state is thread-local.
    connection.busy_handler(Some(|before| {
        PATIENCE.with_borrow_mut(|slot| slot.as_mut().is_some_and(|it| it.wait(before)))
    }))
}

impl Patience {
    /// Waits before retry `before` + 1; false to give up.
    fn wait(&mut self, before: i32) -> bool {
        if before == 0 {
            self.waited = Duration::ZERO;
        }
        let pause = pause(before).min(self.limit.saturating_sub(self.waited));
        if pause.is_zero() {
            return false;
        }
        self.waited += pause;
        let until = Instant::now() + pause;
        loop {
            if self.leaving.load(Relaxed) {
                return false;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            thread::park_timeout(left);
        }
    }
}

fn pause(before: i32) -> Duration {
    let position = usize::try_from(before).unwrap_or(0).min(PAUSES_MS.len() - 1);
    Duration::from_millis(PAUSES_MS[position])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patience(limit_ms: u64) -> Patience {
        let leaving = Arc::new(AtomicBool::new(false));
        Patience { limit: Duration::from_millis(limit_ms), waited: Duration::ZERO, leaving }
    }

    #[test]
    fn pauses_add_up_to_the_limit() {
        let mut patience = patience(20);
        for _ in 0..2 {
            // 1, 2, 5, 10, and the remaining 2.
            let looks = (0..100).take_while(|before| patience.wait(*before)).count();
            assert_eq!(looks, 5);
            assert_eq!(patience.waited, Duration::from_millis(20));
        }
    }

    #[test]
    fn a_wait_ends_when_the_thread_is_to_leave() {
        let mut patience = patience(3_600_000);
        let leaving = Arc::clone(&patience.leaving);
        let waiting = thread::spawn(move || {
            (0..i32::MAX).take_while(|before| patience.wait(*before)).count()
        });
        leaving.store(true, Relaxed);
        waiting.thread().unpark();
        assert!(waiting.join().unwrap() < 1_000);
    }
}
