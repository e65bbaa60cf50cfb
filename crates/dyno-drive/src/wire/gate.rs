//! Selects the events for which a unix socket wakes its user: arrivals, or that the server has read
//! everything.
//!
//! A server that answers each command of a batch separately would wake the client for each answer.
//! It reads the commands one after another, and the kernel frees the memory of the sent data once
//! all of it is read; the socket reports that as writable. So the client can sleep until the server
//! is at the last command, read all answers so far at once, and then wait for the last.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::time::Timespec;

const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
/// The end of the connection is always reported.
const ARRIVALS: EventFlags = EventFlags::IN.union(EventFlags::RDHUP).union(EventFlags::ET);
const ROOM: EventFlags = EventFlags::OUT.union(EventFlags::RDHUP).union(EventFlags::ET);

/// Readable when its socket has the selected events: initially arrivals.
#[derive(Debug)]
pub struct Gate(OwnedFd);

impl Gate {
    /// Creates a gate for a socket, which must be passed to all calls.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn new(socket: impl AsFd) -> io::Result<Self> {
        let gate = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&gate, socket, EventData::new_u64(0), ARRIVALS)?;
        Ok(Self(gate))
    }

    /// Selects arrivals, including existing ones.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn open_for_arrivals(&self, socket: impl AsFd) -> io::Result<()> {
        // Modifying the entry is not enough: while an event for writing is still queued, existing
        // arrivals wake nobody.
        epoll::delete(&self.0, &socket)?;
        Ok(epoll::add(&self.0, socket, EventData::new_u64(0), ARRIVALS)?)
    }

    /// Selects future write space only.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn open_for_room(&self, socket: impl AsFd) -> io::Result<()> {
        epoll::modify(&self.0, socket, EventData::new_u64(0), ROOM)?;
        // Discard the event for current write space.
        let mut events: [Event; 1] =
            [Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }];
        epoll::wait(&self.0, &mut events, Some(&NOW))?;
        Ok(())
    }
}

impl AsRawFd for Gate {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}
