//! `io_uring`: one ring, registered files, registered buffers in one arena.

mod parts;
mod ring;

use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

use dyno_record::{Error, ErrorKind, Result, monotonic_ns};
use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{opcode, squeue};

use self::parts::parts;
use self::ring::{Ring, is};
use super::{Completion, Engine, Name, Op, Request, Setup};
use crate::arena::Arena;
use crate::{Notes, Topic};

/// Longest wait for I/Os in flight when an engine is dropped; a slower device counts as hung.
const PATIENCE: Duration = Duration::from_secs(5);

/// How the kernel gets the buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffers {
    /// Pinned once, if the limit of locked memory allows it.
    Registered,
    /// Pinned for every I/O.
    Plain,
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    started_ns: u64,
    busy: bool,
}

/// The engine. Its ring belongs to the thread that opens it.
pub struct Uring {
    // Drop order: the ring must be gone before its buffers.
    ring: Ring,
    /// `None` after it was leaked because a device hangs.
    arena: Option<Arena>,
    buffers: Buffers,
    files: usize,
    slots: Vec<Slot>,
    in_flight: usize,
    entries: Vec<squeue::Entry>,
}

impl Uring {
    /// Sets up the ring, the files and the buffers. If buffers cannot be registered, uses them
    /// plain and adds a note.
    ///
    /// # Errors
    /// `io` if the kernel has no usable `io_uring` or forbids it, `out_of_memory` without buffers.
    pub fn open(setup: &Setup<'_>, buffers: Buffers, notes: &mut Notes) -> Result<Self> {
        let mut ring = Ring::new(setup.slots.len() as u32)
            .map_err(|error| unavailable(&format!("io_uring is not available ({error})")))?;
        if !ring.waits_with_limit() {
            return Err(unavailable(
                "io_uring of this kernel cannot wait with a timeout (needs 5.11)",
            ));
        }
        let fds: Vec<_> = setup.files.iter().map(|file| file.as_raw_fd()).collect();
        ring.submitter()
            .register_files(&fds)
            .map_err(|error| unavailable(&format!("io_uring cannot register files ({error})")))?;

        let arena = Arena::new(setup.slots, setup.seed, setup.pages)?;
        let buffers = match buffers {
            Buffers::Registered => register(&ring, &arena, notes),
            Buffers::Plain => Buffers::Plain,
        };
        ring.register_itself();
        Ok(Self {
            ring,
            arena: Some(arena),
            buffers,
            files: fds.len(),
            slots: vec![Slot::default(); setup.slots.len()],
            in_flight: 0,
            entries: Vec::with_capacity(setup.slots.len()),
        })
    }

    /// Whether the buffers are registered.
    pub fn buffers(&self) -> Buffers {
        self.buffers
    }

    fn entry(&self, request: &Request) -> squeue::Entry {
        let arena = self.arena.as_ref().expect("the arena is given up in drop only");
        let slot = request.slot as usize;
        assert!(request.bytes as usize <= arena.bytes(slot), "a request fits its buffer");
        assert!((request.file as usize) < self.files, "a request names a registered file");
        let file = Fixed(request.file);
        let (data, bytes) = (arena.slot_ptr(slot), request.bytes);
        let entry = match (request.op, self.buffers) {
            (Op::Fsync, _) => opcode::Fsync::new(file).build(),
            (Op::Fdatasync, _) => opcode::Fsync::new(file).flags(FsyncFlags::DATASYNC).build(),
            (Op::Read, Buffers::Registered) => {
                opcode::ReadFixed::new(file, data, bytes, 0).offset(request.offset).build()
            }
            (Op::Write, Buffers::Registered) => {
                opcode::WriteFixed::new(file, data, bytes, 0).offset(request.offset).build()
            }
            (Op::Read, Buffers::Plain) => {
                opcode::Read::new(file, data, bytes).offset(request.offset).build()
            }
            (Op::Write, Buffers::Plain) => {
                opcode::Write::new(file, data, bytes).offset(request.offset).build()
            }
        };
        entry.user_data(u64::from(request.slot))
    }

    /// Enters the kernel once: submits the queue, then waits for one completion or `timeout`.
    fn enter(&self, timeout: Duration) -> Result<()> {
        let limit = Timespec::from(timeout);
        entered(self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&limit)))
    }

    /// Queues I/Os with the current time as their start.
    fn queue(&mut self, part: &[Request]) -> Result<()> {
        let started_ns = monotonic_ns();
        self.entries.clear();
        for request in part {
            let entry = self.entry(request);
            let state = &mut self.slots[request.slot as usize];
            assert!(!state.busy, "slot {} is busy", request.slot);
            *state = Slot { started_ns, busy: true };
            self.entries.push(entry);
        }
        // SAFETY: every entry points to the buffer of its own slot in the arena. The buffer is not
        // lent out while the slot is busy, and the arena outlives the I/O: `drop` waits for all
        // I/Os, or leaks the arena.
        unsafe { self.ring.push(&self.entries) }.map_err(|_| {
            Error::new(ErrorKind::Internal, "the submission queue has no space for a batch")
        })?;
        self.in_flight += part.len();
        Ok(())
    }

    /// Collects completions; returns the clock after that.
    fn reap(&mut self, done: &mut Vec<Completion>) -> u64 {
        let mut completions = self.ring.completions();
        let ended_ns = monotonic_ns();
        for entry in &mut completions {
            let slot = entry.user_data() as u32;
            let state = &mut self.slots[slot as usize];
            state.busy = false;
            self.in_flight -= 1;
            let (started_ns, result) = (state.started_ns, entry.result());
            done.push(Completion { slot, result, started_ns, ended_ns });
        }
        ended_ns
    }
}

impl Engine for Uring {
    fn name(&self) -> Name {
        Name::IoUring
    }

    fn now_ns(&self) -> u64 {
        monotonic_ns()
    }

    fn huge_share(&self) -> Option<f64> {
        self.arena.as_ref()?.huge_share()
    }

    fn buffer_mut(&mut self, slot: u32) -> &mut [u8] {
        assert!(!self.slots[slot as usize].busy, "the kernel holds the buffer of slot {slot}");
        self.arena.as_mut().expect("the arena is given up in drop only").slot_mut(slot as usize)
    }

    fn submit_and_wait(
        &mut self,
        batch: &[Request],
        timeout: Duration,
        done: &mut Vec<Completion>,
    ) -> Result<u64> {
        let mut parts = parts(batch).peekable();
        while let Some(part) = parts.next() {
            self.queue(part)?;
            // The last part is submitted with the wait.
            if parts.peek().is_some() {
                entered(self.ring.submitter().submit())?;
            }
        }
        if self.in_flight == 0 {
            return Ok(monotonic_ns());
        }
        self.enter(timeout)?;
        Ok(self.reap(done))
    }

    fn pause(&mut self, time: Duration) -> u64 {
        std::thread::sleep(time);
        monotonic_ns()
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        let mut ended = Vec::with_capacity(self.in_flight);
        let give_up_ns = monotonic_ns() + PATIENCE.as_nanos() as u64;
        while self.in_flight > 0 && monotonic_ns() < give_up_ns {
            if self.enter(Duration::from_millis(50)).is_err() {
                break;
            }
            self.reap(&mut ended);
        }
        if self.in_flight > 0 {
            // The kernel may still write to the buffers: never free their memory.
            std::mem::forget(self.arena.take());
            return;
        }
        // The kernel tears down a closed ring some time later. The next engine may need the locked
        // memory now, and the file must be closed before its volume can be unmounted: release both
        // here. Failure is harmless.
        let submitter = self.ring.submitter();
        if self.buffers == Buffers::Registered {
            let _ = submitter.unregister_buffers();
        }
        let _ = submitter.unregister_files();
    }
}

fn register(ring: &Ring, arena: &Arena, notes: &mut Notes) -> Buffers {
    // SAFETY: the arena lives until the buffers are unregistered or the ring is closed: `Uring`
    // owns both and drops the ring first.
    match unsafe { ring.submitter().register_buffers(&[arena.iovec()]) } {
        Ok(()) => Buffers::Registered,
        Err(error) => {
            let advice = if is(&error, libc::ENOMEM) {
                "; raise the locked memory limit (ulimit -l)"
            } else {
                ""
            };
            notes.add(
                Topic::Fallback,
                format!(
                    "io_uring could not register its buffers ({error}): Dyno used unregistered \
                 ones, at a higher CPU cost{advice}"
                ),
            );
            Buffers::Plain
        }
    }
}

/// Interprets the result of a call.
fn entered(result: io::Result<usize>) -> Result<()> {
    match result {
        Ok(_) => Ok(()),
        Err(error) => match error.raw_os_error() {
            // Timeout, a signal, or the kernel lacks memory or completion space: collect what is
            // there. The next call submits what is still queued.
            Some(libc::ETIME | libc::EINTR | libc::EAGAIN | libc::EBUSY) => Ok(()),
            _ => Err(Error::from_io(&error, "io_uring_enter")),
        },
    }
}

fn unavailable(message: &str) -> Error {
    Error::new(ErrorKind::Io, message)
}
