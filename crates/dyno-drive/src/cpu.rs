//! CPU time of the driver itself.

use rustix::time::{ClockId, clock_gettime};

/// CPU time of the calling thread so far, user and system, in ns.
pub fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time() {
        let before = thread_cpu_ns();
        let mut sum = 0u64;
        while thread_cpu_ns() < before + 1_000_000 {
            sum = sum.wrapping_add(std::hint::black_box(1));
        }
        assert!(sum > 0);
    }
}
