//! Pinning of threads to cores.

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::sync::OnceLock;

    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// The cores that the process may use, read before any thread is pinned.
    fn allowed() -> Option<&'static CpuSet> {
        static ALLOWED: OnceLock<Option<CpuSet>> = OnceLock::new();
        ALLOWED.get_or_init(|| sched_getaffinity(None).ok()).as_ref()
    }

    pub(crate) fn list() -> Vec<usize> {
        let on = |set: &CpuSet| (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect();
        allowed().map_or_else(|| vec![0], on)
    }

    pub(crate) fn pin(core: usize) -> io::Result<()> {
        let mut set = CpuSet::new();
        set.set(core);
        Ok(sched_setaffinity(None, &set)?)
    }

    pub(crate) fn release() {
        if let Some(set) = allowed() {
            let _ = sched_setaffinity(None, set);
        }
    }

    pub(crate) fn wake_precisely() {
        // SAFETY: sets a number of the calling thread; on failure the default of 50 µs remains.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong, 0, 0, 0) };
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::io;

    pub(crate) fn list() -> Vec<usize> {
        let count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        (0..count).collect()
    }

    pub(crate) fn pin(_: usize) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn release() {}

    pub(crate) fn wake_precisely() {}
}

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use other as system;

/// The cores that this process may use.
pub(crate) fn list() -> Vec<usize> {
    system::list()
}

/// Pins this thread to a core.
///
/// # Errors
/// Of the operating system; `Unsupported` if threads cannot be pinned.
pub(crate) fn pin(core: usize) -> std::io::Result<()> {
    system::pin(core)
}

/// Unpins this thread.
pub(crate) fn release() {
    system::release();
}

/// Makes this thread's waits end on time rather than up to 50 µs late.
pub(crate) fn wake_precisely() {
    system::wake_precisely();
}

/// Assigns a thread in `0..threads` to each lane, given the lanes' targets. With at least as many
/// targets as threads, all lanes of a target share a thread; with fewer, lanes are dealt out one by
/// one.
pub(crate) fn spread(targets: &[usize], threads: usize) -> Vec<usize> {
    let mut distinct: Vec<_> = targets.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let of = |(lane, target): (usize, &usize)| {
        let place = distinct.binary_search(target).unwrap_or(0);
        if distinct.len() >= threads { place % threads } else { lane % threads }
    };
    targets.iter().enumerate().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_stay_whole_where_there_are_enough() {
        assert_eq!(spread(&[0, 1, 2, 3, 0, 1, 2, 3], 2), [0, 1, 0, 1, 0, 1, 0, 1]);
        assert_eq!(spread(&[5, 5, 7, 7], 2), [0, 0, 1, 1]);
        assert_eq!(spread(&[0, 0, 0], 2), [0, 1, 0]);
        assert_eq!(spread(&[4], 1), [0]);
    }

    #[test]
    fn a_pinned_thread_can_be_released() {
        let cores = list();
        assert!(!cores.is_empty());
        std::thread::spawn(move || {
            if pin(cores[0]).is_ok() {
                let run = || std::thread::available_parallelism().unwrap().get();
                assert_eq!(run(), 1);
                release();
                assert_eq!(run(), cores.len());
            }
        })
        .join()
        .unwrap();
    }
}
