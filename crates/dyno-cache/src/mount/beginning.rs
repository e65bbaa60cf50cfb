//! How threads begin: with buffers that are in memory, and all of them before the first request.
//!
//! The kernel copies each request into the buffer of a thread. If the process dies meanwhile and a
//! page of the buffer is not in memory yet, the copy fails, and the kernel fails the request with
//! `EIO` instead of keeping it for the next daemon. The library allocates these buffers itself, and
//! does not touch them. So each thread gets a request of ours first, through a socket in the place
//! of the device, which says where its buffer is.

use super::content::MAX_WRITE;
use fuser::{INodeNo, ReplyWrite};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixDatagram;
use std::sync::{Barrier, OnceLock};

/// The number of no file.
const NOBODY: u64 = u64::MAX;
/// What comes with the data of a write, and a page, as the buffer need not begin where one does.
const MORE: usize = 2 * PAGE;
const PAGE: usize = 4096;

/// The begin of all threads of a session.
pub struct Beginning {
    device: OwnedFd,
    /// The descriptor that the threads read from.
    session: OnceLock<RawFd>,
    threads: usize,
    all: Barrier,
}

impl Beginning {
    /// The begin of a session that will use a device.
    pub fn new(device: OwnedFd, threads: usize) -> Self {
        Self { device, session: OnceLock::new(), threads, all: Barrier::new(threads) }
    }

    /// Sets the session's descriptor, which is a socket until all threads have begun.
    pub fn reads_from(&self, session: RawFd) {
        self.session.get_or_init(|| session);
    }

    /// Sends each thread its first request, to the other end of the session's socket.
    ///
    /// # Errors
    /// Of the socket.
    pub fn send(&self, to: &UnixDatagram) -> io::Result<()> {
        (0..self.threads).try_for_each(|_| to.send(&request()).map(drop))?;
        (0..self.threads).try_for_each(|_| to.recv(&mut [0; 64]).map(drop))
    }

    /// Whether a write is such a request.
    pub fn is(id: INodeNo) -> bool {
        id.0 == NOBODY
    }

    /// Serves such a request. The thread reads from the device when this returns.
    pub fn begin(&self, data: &[u8], reply: ReplyWrite) {
        fill(data);
        reply.written(0);
        if self.all.wait().is_leader() {
            self.replace();
        }
        self.all.wait();
    }

    /// Puts the device in the place of the socket.
    #[expect(unsafe_code, reason = "the library has no session without a handshake")]
    fn replace(&self) {
        let Some(&session) = self.session.get() else { return };
        // SAFETY: the number belongs to the session, which keeps it open while its threads run.
        if unsafe { libc::dup3(self.device.as_raw_fd(), session, libc::O_CLOEXEC) } < 0 {
            // Without the device nothing can be served; another daemon may.
            eprintln!("cannot use the FUSE device: {}", io::Error::last_os_error());
            std::process::abort();
        }
    }
}

/// Brings the buffer that a request is in into memory, as far as requests reach.
#[expect(unsafe_code, reason = "the library gives no access to its buffers")]
fn fill(data: &[u8]) {
    let begin = data.as_ptr() as usize & !(PAGE - 1);
    // SAFETY: the call changes no content. The range is within the library's buffer of 16 MiB.
    // Kernels before 5.14 do not know the call; then the buffer stays as it is.
    unsafe {
        libc::madvise(begin as *mut libc::c_void, MAX_WRITE + MORE, libc::MADV_POPULATE_WRITE);
    }
}

/// `FUSE_WRITE` of eight bytes.
fn request() -> Vec<u8> {
    let mut request = vec![0; 88];
    let mut put = |at: usize, value: u64| request[at..at + 8].copy_from_slice(&value.to_le_bytes());
    put(0, 88 + (16 << 32));
    put(16, NOBODY);
    put(56, 8);
    request
}
