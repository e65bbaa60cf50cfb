//! The supervisor's end: it holds the mount and the open files, so a daemon that dies can be replaced.
//!
//! The daemon connects to a socket of the supervisor and receives the FUSE device, the origin's
//! folder, and every file that the kernel knows. Afterwards it reports which files the kernel learns
//! and forgets, with a descriptor of each. A daemon without supervisor goes on alone.

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recvmsg,
    sendmsg, socket_with,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// What a daemon begins with.
pub struct Given {
    /// The FUSE device, after its handshake.
    pub fuse: OwnedFd,
    /// The folder under the mount.
    pub root: OwnedFd,
    /// Numbers and descriptors of other files that the kernel knows.
    pub nodes: Vec<(u64, OwnedFd)>,
    /// Files that the kernel reads and writes itself: the file's number, and the kernel's.
    pub backings: Vec<(u64, u32)>,
}

/// The connection to the supervisor.
pub struct Keeper(OwnedFd);

const MESSAGE: usize = 128;

impl Keeper {
    /// Connects, and receives what the supervisor holds.
    ///
    /// # Errors
    /// Of the connection; `InvalidData` if the supervisor sends something unexpected.
    pub fn connect(path: &Path) -> io::Result<(Self, Given)> {
        let socket =
            socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        connect(&socket, &SocketAddrUnix::new(path)?)?;
        let keeper = Self(socket);
        let (mut fuse, mut root) = (None, None);
        let (mut nodes, mut backings) = (Vec::new(), Vec::new());
        loop {
            let (text, file) = keeper.receive()?;
            let mut words = text.split(' ');
            let what = words.next().unwrap_or_default();
            let numbers: Vec<u64> = words.filter_map(|word| word.parse().ok()).collect();
            match (what, &numbers[..], file) {
                ("fuse", [], Some(file)) => fuse = Some(file),
                ("root", [], Some(file)) => root = Some(file),
                ("keep", &[node], Some(file)) => nodes.push((node, file)),
                ("backing", &[node, id], None) => backings.push((node, id as u32)),
                ("go", [], None) => break,
                _ => return Err(unexpected()),
            }
        }
        let (Some(fuse), Some(root)) = (fuse, root) else { return Err(unexpected()) };
        Ok((keeper, Given { fuse, root, nodes, backings }))
    }

    /// Requests are served from now on.
    pub fn ready(&self) {
        self.tell("ready", None);
    }

    /// The kernel learns of a file. Must be told before the kernel is.
    pub fn keep(&self, node: u64, file: BorrowedFd<'_>) {
        self.tell(&format!("keep {node}"), Some(file));
    }

    /// The kernel forgot a file.
    pub fn forget(&self, node: u64) {
        self.tell(&format!("forget {node}"), None);
    }

    /// The kernel reads and writes a file itself; `id` is the kernel's number, 0 if it ended.
    pub fn backing(&self, node: u64, id: u32) {
        self.tell(&format!("backing {node} {id}"), None);
    }

    /// What the cache has must not be used by a later daemon.
    pub fn spoiled(&self) {
        self.tell("spoiled", None);
    }

    fn tell(&self, text: &str, file: Option<BorrowedFd<'_>>) {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let files = file.map(|file| [file]);
        if let Some(files) = &files {
            control.push(SendAncillaryMessage::ScmRights(files));
        }
        let parts = [IoSlice::new(text.as_bytes())];
        // Without a supervisor there is nobody to start another daemon: the mount ends with this one.
        let _ = sendmsg(self.0.as_fd(), &parts, &mut control, SendFlags::NOSIGNAL);
    }

    fn receive(&self) -> io::Result<(String, Option<OwnedFd>)> {
        let mut bytes = [0; MESSAGE];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let received = recvmsg(&self.0, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)?;
        let mut file = None;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(files) = message {
                file = files.last();
            }
        }
        if received.bytes == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let text = std::str::from_utf8(&bytes[..received.bytes]).map_err(|_| unexpected())?;
        Ok((text.to_owned(), file))
    }
}

fn unexpected() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the supervisor sent something unexpected")
}
