//! `pread` and `pwrite`, one thread per slot: works everywhere.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use dyno_record::{Error, ErrorKind, Result, monotonic_ns};

use super::{Completion, Engine, Name, Op, Request, Setup};
use crate::arena::{Arena, Pages};
use crate::cores;
use crate::seeds::derived;

/// A thread only reads, writes and waits.
const STACK_BYTES: usize = 128 << 10;

/// A request goes to its slot's thread together with the buffer, and both come back: no shared
/// memory, and no allocation per I/O.
type Job = (Request, Arena);
type Done = (Completion, Arena);

struct Worker {
    jobs: SyncSender<Job>,
    thread: JoinHandle<()>,
    /// `None` while an I/O uses it.
    buffer: Option<Arena>,
}

/// The engine. Its threads measure latencies around the system call alone.
pub struct Psync {
    workers: Vec<Worker>,
    ended: Receiver<Done>,
    files: usize,
    in_flight: usize,
}

impl Psync {
    /// Starts the threads.
    ///
    /// # Errors
    /// `io` without threads or file handles, `out_of_memory` without buffers.
    pub fn open(setup: &Setup<'_>) -> Result<Self> {
        let files = setup.files.iter().map(|file| file.try_clone()).collect::<io::Result<Vec<_>>>();
        let files: Arc<[File]> =
            files.map_err(|error| Error::from_io(&error, "duplicating a file handle"))?.into();
        let (report, ended) = sync_channel(setup.slots.len());
        let mut workers = Vec::with_capacity(setup.slots.len());
        for (slot, bytes) in setup.slots.iter().enumerate() {
            let seed = derived(setup.seed, slot, "buffer");
            let buffer = Some(Arena::new(&[*bytes], seed, Pages::Ordinary)?);
            let (jobs, queue) = sync_channel(1);
            let (files, report) = (Arc::clone(&files), report.clone());
            let thread = Builder::new()
                .name(format!("psync-{slot}"))
                .stack_size(STACK_BYTES)
                .spawn(move || work(&files, &queue, &report))
                .map_err(|error| Error::from_io(&error, "starting an I/O thread"))?;
            workers.push(Worker { jobs, thread, buffer });
        }
        Ok(Self { workers, ended, files: files.len(), in_flight: 0 })
    }

    fn take_back(&mut self, (completion, buffer): Done, done: &mut Vec<Completion>) {
        self.workers[completion.slot as usize].buffer = Some(buffer);
        self.in_flight -= 1;
        done.push(completion);
    }
}

impl Engine for Psync {
    fn name(&self) -> Name {
        Name::Psync
    }

    fn now_ns(&self) -> u64 {
        monotonic_ns()
    }

    /// Each buffer is a separate mapping, usually smaller than a huge page.
    fn huge_share(&self) -> Option<f64> {
        Some(0.0)
    }

    fn buffer_mut(&mut self, slot: u32) -> &mut [u8] {
        let buffer = self.workers[slot as usize].buffer.as_mut();
        buffer.expect("the buffer of a busy slot is with its I/O").slot_mut(0)
    }

    fn submit_and_wait(
        &mut self,
        batch: &[Request],
        timeout: Duration,
        done: &mut Vec<Completion>,
    ) -> Result<u64> {
        let dead = || Error::new(ErrorKind::Internal, "an I/O thread is gone");
        for request in batch {
            let worker = &mut self.workers[request.slot as usize];
            assert!((request.file as usize) < self.files, "a request names a known file");
            let buffer = worker.buffer.take().expect("the slot is idle");
            assert!(request.bytes as usize <= buffer.bytes(0), "a request fits its buffer");
            worker.jobs.send((*request, buffer)).map_err(|_| dead())?;
            self.in_flight += 1;
        }
        if self.in_flight == 0 {
            return Ok(monotonic_ns());
        }
        match self.ended.recv_timeout(timeout) {
            Ok(ended) => self.take_back(ended, done),
            Err(RecvTimeoutError::Timeout) => return Ok(monotonic_ns()),
            Err(RecvTimeoutError::Disconnected) => return Err(dead()),
        }
        while let Ok(ended) = self.ended.try_recv() {
            self.take_back(ended, done);
        }
        Ok(monotonic_ns())
    }

    fn pause(&mut self, time: Duration) -> u64 {
        std::thread::sleep(time);
        monotonic_ns()
    }
}

impl Drop for Psync {
    fn drop(&mut self) {
        for Worker { jobs, thread, buffer } in self.workers.drain(..) {
            drop(jobs);
            // A thread that still has the buffer may be blocked by a device that hangs. It ends by
            // itself, and owns all it needs until then.
            if buffer.is_some() {
                let _ = thread.join();
            }
        }
    }
}

fn work(files: &[File], queue: &Receiver<Job>, report: &SyncSender<Done>) {
    cores::release();
    while let Ok((request, mut buffer)) = queue.recv() {
        let file = &files[request.file as usize];
        let data = &mut buffer.slot_mut(0)[..request.bytes as usize];
        let started_ns = monotonic_ns();
        let moved = match request.op {
            Op::Read => file.read_at(data, request.offset),
            Op::Write => file.write_at(data, request.offset),
            Op::Fsync => file.sync_all().map(|()| 0),
            Op::Fdatasync => file.sync_data().map(|()| 0),
        };
        let ended_ns = monotonic_ns();
        let result = match moved {
            Ok(bytes) => bytes as i32,
            Err(error) => -error.raw_os_error().unwrap_or(libc::EIO),
        };
        let completion = Completion { slot: request.slot, result, started_ns, ended_ns };
        if report.send((completion, buffer)).is_err() {
            return;
        }
    }
}
