//! A record of what was asked of cached files, for the simulator and for prewarming.
//!
//! While the folder of the cache has a file `record`, requests are appended to `trace`: for each, as
//! little-endian numbers of 64 bits, the time in ns since 1970, the number of the file with the highest
//! bit set for a write, the offset, and the size in bytes.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

const ASKED: &str = "record";
const TRACE: &str = "trace";
const WRITE: u64 = 1 << 63;
/// Bytes after which nothing more is recorded: 200 million requests.
const MOST: u64 = 6_400_000_000;

struct Open {
    file: BufWriter<File>,
    bytes: u64,
}

/// What is being recorded, if anything.
#[derive(Default)]
pub struct Recording {
    folder: PathBuf,
    on: AtomicBool,
    open: Mutex<Option<Open>>,
}

impl Recording {
    /// Nothing yet, in the folder of a cache.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), ..Self::default() }
    }

    /// Begins or ends as it is asked for, and writes out what was recorded.
    ///
    /// # Errors
    /// Of the folder; then nothing more is recorded.
    pub fn follow(&self) -> io::Result<()> {
        let asked = self.folder.join(ASKED).exists();
        let mut open = self.open();
        if let Some(Open { file, bytes }) = open.as_mut() {
            let done = file.flush();
            if !asked || done.is_err() || *bytes > MOST {
                self.on.store(false, Relaxed);
                *open = None;
            }
            return done;
        }
        if asked && !self.folder.join(TRACE).exists() {
            let file = BufWriter::new(File::create_new(self.folder.join(TRACE))?);
            *open = Some(Open { file, bytes: 0 });
            self.on.store(true, Relaxed);
        }
        Ok(())
    }

    /// Records a request.
    pub fn add(&self, number: Option<u32>, offset: u64, size: usize, write: bool) {
        let Some(number) = number.filter(|_| self.on.load(Relaxed)) else { return };
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos() as u64;
        let number = u64::from(number) | if write { WRITE } else { 0 };
        let mut open = self.open();
        let Some(Open { file, bytes }) = open.as_mut() else { return };
        for word in [now, number, offset, size as u64] {
            // A record that cannot be written ends when it is followed.
            if file.write_all(&word.to_le_bytes()).is_ok() {
                *bytes += 8;
            }
        }
    }

    fn open(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
