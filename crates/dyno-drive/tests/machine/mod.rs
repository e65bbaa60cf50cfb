//! What fixtures need of the machine.

use std::net::TcpListener;

/// The user that servers run as when the tests run as root, whom they refuse.
pub const NOBODY: u32 = 65534;

/// A port of this process's own below those that the kernel hands out, so that nobody is given it
/// between now and the server's start.
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
