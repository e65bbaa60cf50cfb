//! Helpers for the machine that tests run on.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The user for servers when the tests run as root, which servers refuse.
pub const NOBODY: u32 = 65534;

/// The number of the next server of this process, of whatever kind.
pub fn next_server() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Relaxed)
}

/// A port for this process below the kernel's ephemeral range, so that no other process gets it
/// before the server starts.
pub fn free_port(number: u32) -> u16 {
    let first = 15_000 + (std::process::id() * 8 + number * 4_001) % 16_000;
    (first..32_000)
        .map(|port| u16::try_from(port).unwrap())
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .expect("a free port")
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
