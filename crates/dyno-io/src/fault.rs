//! Classes of failed I/Os.

use std::io;

use dyno_record::{Error, ErrorKind};
use serde::Serialize;

use crate::engine::{Op, Request};

/// Why an I/O failed. The names are those of `errors` in bundles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The device or file system reported an I/O error, or one of no other class.
    Io,
    /// A read returned fewer bytes than requested: the target was truncated.
    ShortRead,
    /// A write wrote fewer bytes than requested: no space left for the rest.
    ShortWrite,
    /// No space left, or a quota or the maximum file size is reached.
    DiskFull,
    /// The device or file was removed, or its handle became invalid.
    Gone,
    /// The system gave up waiting for the device.
    TimedOut,
    /// The kernel has no memory for the I/O.
    OutOfMemory,
    /// Size or offset is not aligned to the device's blocks.
    Unaligned,
}

impl Fault {
    /// Classifies an I/O's `result`: bytes moved, or a negative `errno`.
    pub(crate) fn of(result: i32, op: Op) -> Self {
        match -result {
            ..=0 if op == Op::Read => Self::ShortRead,
            ..=0 => Self::ShortWrite,
            libc::ENOSPC | libc::EDQUOT | libc::EFBIG => Self::DiskFull,
            libc::ENODEV | libc::ENXIO | libc::ESTALE | libc::EBADF | libc::ENOENT => Self::Gone,
            libc::ETIMEDOUT => Self::TimedOut,
            libc::ENOMEM => Self::OutOfMemory,
            libc::EINVAL => Self::Unaligned,
            _ => Self::Io,
        }
    }

    /// The name in bundles.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Io => "io",
            Self::ShortRead => "short_read",
            Self::ShortWrite => "short_write",
            Self::DiskFull => "disk_full",
            Self::Gone => "gone",
            Self::TimedOut => "timed_out",
            Self::OutOfMemory => "out_of_memory",
            Self::Unaligned => "unaligned",
        }
    }
}

/// The error of a failed I/O.
pub(crate) fn error(result: i32, request: &Request) -> Error {
    let what = match request.op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Fsync => "fsync",
        Op::Fdatasync => "fdatasync",
    };
    let what = match request.op {
        Op::Read | Op::Write => {
            format!("{what} of {} bytes at offset {}", request.bytes, request.offset)
        }
        Op::Fsync | Op::Fdatasync => what.to_owned(),
    };
    if result < 0 {
        return Error::from_io(&io::Error::from_raw_os_error(-result), what);
    }
    let why = match request.op {
        Op::Read => "the file or device has become shorter",
        _ => "there was no space for the rest",
    };
    Error::new(ErrorKind::Io, format!("only {result} bytes were transferred: {why}")).context(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_their_class() {
        for (result, op, fault) in [
            (-libc::EIO, Op::Read, Fault::Io),
            (-libc::EPERM, Op::Write, Fault::Io),
            (-libc::ENOSPC, Op::Write, Fault::DiskFull),
            (-libc::ENODEV, Op::Fsync, Fault::Gone),
            (-libc::EINVAL, Op::Read, Fault::Unaligned),
            (0, Op::Read, Fault::ShortRead),
            (4096, Op::Read, Fault::ShortRead),
            (4096, Op::Write, Fault::ShortWrite),
        ] {
            assert_eq!(Fault::of(result, op), fault, "{result}");
            assert_eq!(serde_json::to_value(fault).unwrap(), fault.as_str());
        }
    }

    #[test]
    fn the_error_says_what_was_done_where() {
        let request = Request { op: Op::Write, offset: 4096, bytes: 512, ..Request::default() };
        let text = error(-libc::ENOSPC, &request).to_string();
        assert!(text.contains("write of 512 bytes at offset 4096"), "{text}");
        assert_eq!(error(-libc::ENOSPC, &request).kind, ErrorKind::DiskFull);
        let request = Request { op: Op::Fdatasync, ..Request::default() };
        assert!(error(-libc::EIO, &request).to_string().contains("(fdatasync)"));
    }
}
