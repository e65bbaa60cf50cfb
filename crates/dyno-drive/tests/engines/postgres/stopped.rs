//! Server processes that are stopped for a while.

use rustix::process::{Pid, Signal, kill_process};

/// Stopped processes, which continue when this is dropped.
pub struct Stopped(Vec<Pid>);

impl Stopped {
    /// Stops the processes with the ids in `pids`, one per line.
    pub fn now(pids: &str) -> Self {
        let pids = pids.lines().map(|pid| Pid::from_raw(pid.parse().unwrap()).unwrap());
        let stopped = Self(pids.collect());
        for pid in &stopped.0 {
            // A session that has ended need not continue.
            let _ = kill_process(*pid, Signal::STOP);
        }
        stopped
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        for pid in &self.0 {
            let _ = kill_process(*pid, Signal::CONT);
        }
    }
}
