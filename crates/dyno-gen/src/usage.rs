//! Errors of invalid plans.

use dyno_record::{Error, ErrorKind};

/// An error of kind `usage`.
pub fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, message)
}
