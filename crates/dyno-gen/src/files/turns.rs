//! Makes parallel threads write in order.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use dyno_record::{Error, ErrorKind, Result};

/// Numbered turns, taken in order.
#[derive(Debug)]
pub(super) struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    now: u64,
    failure: Option<Error>,
}

impl Turns {
    /// Turns that start at `first`.
    pub(super) fn new(first: u64) -> Self {
        let state = State { now: first, failure: None };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Waits for `turn`.
    ///
    /// # Errors
    /// The failure of another thread, after which no further turn comes.
    pub(super) fn wait(&self, turn: u64) -> Result<()> {
        let mut state = self.lock();
        loop {
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            if state.now == turn {
                return Ok(());
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends `turn`, which must be the current one.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub(super) fn end(&self, turn: u64) -> Result<()> {
        self.wait(turn)?;
        self.lock().now = turn + 1;
        self.changed.notify_all();
        Ok(())
    }

    /// Runs a thread's work. If it fails or panics, all threads that wait for a turn fail too.
    pub(super) fn run<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        struct OnPanic<'t>(&'t Turns);
        impl Drop for OnPanic<'_> {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    self.0.fail(panicked());
                }
            }
        }
        let _on_panic = OnPanic(self);
        let result = work();
        if let Err(error) = &result {
            self.fail(error.clone());
        }
        result
    }

    fn fail(&self, failure: Error) {
        self.lock().failure.get_or_insert(failure);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The error of a panicked thread.
pub(super) fn panicked() -> Error {
    Error::new(ErrorKind::Internal, "a generating thread panicked")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    #[test]
    fn turns_come_in_order_whoever_takes_them() {
        let (turns, next, seen) = (Turns::new(3), AtomicU64::new(3), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    loop {
                        let turn = next.fetch_add(1, Relaxed);
                        if turn >= 203 {
                            break;
                        }
                        turns.wait(turn).unwrap();
                        seen.lock().unwrap().push(turn);
                        turns.end(turn).unwrap();
                    }
                });
            }
        });
        assert_eq!(seen.into_inner().unwrap(), (3..203).collect::<Vec<_>>());
    }

    #[test]
    fn a_failure_reaches_those_who_wait() {
        let turns = Turns::new(0);
        let told = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| turns.wait(1));
            let full = || Err::<(), _>(Error::new(ErrorKind::DiskFull, "full"));
            turns.run(full).unwrap_err();
            waiting.join().unwrap()
        });
        assert_eq!(told.unwrap_err().kind, ErrorKind::DiskFull);
    }
}
