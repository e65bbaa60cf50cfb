use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

/// Sets a flag if its thread panics, so that the other threads stop too.
#[derive(Debug)]
pub struct StopOnPanic<'a>(pub &'a AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_panic_stops_the_others() {
        let stop = AtomicBool::new(false);
        thread::scope(|scope| scope.spawn(|| drop(StopOnPanic(&stop))).join().unwrap());
        assert!(!stop.load(Relaxed));
        let ended = thread::scope(|scope| {
            let work = scope.spawn(|| {
                let _guard = StopOnPanic(&stop);
                panic!("as planned");
            });
            work.join()
        });
        assert!(ended.is_err() && stop.load(Relaxed));
    }
}
