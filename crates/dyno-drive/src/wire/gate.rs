//! What a unix socket wakes its user for: what arrives, or that the server has taken what was sent.
//!
//! A server that answers each command of a batch by itself would wake the client for each answer.
//! It reads the commands one after another, and the kernel gives the memory of what was sent back
//! once all of it is read, which a socket tells as room to send. So the client can sleep until the
//! server is at the last command, take the answers so far at once, and then wait for the last.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::time::Timespec;

const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
/// The end of the connection is always reported.
const ARRIVALS: EventFlags = EventFlags::IN.union(EventFlags::RDHUP).union(EventFlags::ET);
const ROOM: EventFlags = EventFlags::OUT.union(EventFlags::RDHUP).union(EventFlags::ET);

/// Readable whenever its socket has what it is open for: arrivals at first.
#[derive(Debug)]
pub struct Gate(OwnedFd);

impl Gate {
    /// For one socket, which is to be passed to all calls.
    ///
    /// # Errors
    /// The system's.
    pub fn new(socket: impl AsFd) -> io::Result<Self> {
        let gate = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&gate, socket, EventData::new_u64(0), ARRIVALS)?;
        Ok(Self(gate))
    }

    /// Opens it for arrivals, those that are there included.
    ///
    /// # Errors
    /// The system's.
    pub fn open_for_arrivals(&self, socket: impl AsFd) -> io::Result<()> {
        // To modify it is not enough: while an event for room is still listed nobody is woken for
        // what is there already.
        epoll::delete(&self.0, &socket)?;
        Ok(epoll::add(&self.0, socket, EventData::new_u64(0), ARRIVALS)?)
    }

    /// Opens it only for room that is made from now on.
    ///
    /// # Errors
    /// The system's.
    pub fn open_for_room(&self, socket: impl AsFd) -> io::Result<()> {
        epoll::modify(&self.0, socket, EventData::new_u64(0), ROOM)?;
        // There is room already, which is of no interest.
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
