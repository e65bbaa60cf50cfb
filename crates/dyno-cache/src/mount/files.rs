//! Numbers of files, which are part of the keys of their blocks, and how they survive a restart.
//!
//! A number stands for the content of one file. It is never given again, and a file that changes
//! other than by writes gets another. A table in the cache's folder has the numbers with what tells
//! whether a file is still what it was: inode, time of creation, size, and times of its last change.
//! A number is durable there before a block with it can be on flash.

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, StatxFlags, openat2, statx};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The highest number.
pub const MOST: u32 = (1 << 24) - 1;
const NAME: &str = "files.jsonl";
const MAX_BYTES: u64 = 1 << 30;

/// Identifies a file and its state, to detect changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Inode.
    pub ino: u64,
    /// Time of creation; 0 if the file system has none.
    born: (i64, u32),
    size: u64,
    modified: (i64, u32),
    changed: (i64, u32),
}

impl Fingerprint {
    /// Of a file.
    ///
    /// # Errors
    /// Of the file system.
    pub fn of(file: BorrowedFd<'_>) -> io::Result<Self> {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        let found = statx(file, "", AtFlags::EMPTY_PATH, wanted)?;
        Ok(Self {
            ino: found.stx_ino,
            born: (found.stx_btime.tv_sec, found.stx_btime.tv_nsec),
            size: found.stx_size,
            modified: (found.stx_mtime.tv_sec, found.stx_mtime.tv_nsec),
            changed: (found.stx_ctime.tv_sec, found.stx_ctime.tv_nsec),
        })
    }

    /// Without a time of creation, no file is known to be the same.
    fn same_file(&self, other: &Self) -> bool {
        (self.ino, self.born) == (other.ino, other.born) && self.born != (0, 0)
    }
}

#[derive(Clone, Serialize, Deserialize)]
struct Known {
    number: u32,
    path: String,
    print: Fingerprint,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Known(Known),
    Gone(u32),
    /// All numbers below were given.
    Next(u32),
}

/// The numbers of the files of a mount.
pub struct Files {
    folder: PathBuf,
    root: OwnedFd,
    log: File,
    known: HashMap<u64, Known>,
    next: u32,
}

impl Files {
    /// The numbers that are still right.
    ///
    /// `continued` says that nobody but an earlier daemon of the same mount could change files.
    ///
    /// # Errors
    /// Of the file system.
    pub fn open(folder: &Path, root: OwnedFd, continued: bool) -> io::Result<Self> {
        let (mut known, next) = read(&folder.join(NAME))?;
        if !continued {
            known.retain(|_, one| {
                print_at(root.as_fd(), &one.path).is_ok_and(|print| print == one.print)
            });
        }
        let mut files = Self { folder: folder.to_owned(), root, log: no_log()?, known, next };
        files.write()?;
        Ok(files)
    }

    /// No numbers, for a cache that is empty.
    ///
    /// # Errors
    /// Of the file system.
    pub fn create(folder: &Path, root: OwnedFd) -> io::Result<Self> {
        let (log, known) = (no_log()?, HashMap::new());
        let mut files = Self { folder: folder.to_owned(), root, log, known, next: 1 };
        files.write()?;
        Ok(files)
    }

    /// No numbers, and none to be given: for a cache that is not used.
    ///
    /// # Errors
    /// If `/dev/null` cannot be opened.
    pub fn none(root: OwnedFd) -> io::Result<Self> {
        let (log, known) = (no_log()?, HashMap::new());
        Ok(Self { folder: PathBuf::new(), root, log, known, next: MOST + 1 })
    }

    /// The paths of files by number, as they were last known.
    pub fn paths(&self) -> HashMap<u32, String> {
        self.known.values().map(|one| (one.number, one.path.clone())).collect()
    }

    /// The numbers that are in use.
    pub fn numbers(&self) -> HashSet<u32> {
        self.known.values().map(|one| one.number).collect()
    }

    /// The number of a file, which is durable when it returns; none if there are no more.
    ///
    /// # Errors
    /// Of the file system.
    pub fn number(&mut self, file: BorrowedFd<'_>, path: &str) -> io::Result<Option<u32>> {
        let print = Fingerprint::of(file)?;
        if let Some(number) = self.number_of(&print) {
            return Ok(Some(number));
        }
        if self.next > MOST {
            return Ok(None);
        }
        let one = Known { number: self.next, path: path.to_owned(), print };
        self.append(&Line::Known(one.clone()))?;
        self.log.sync_data()?;
        self.next += 1;
        self.known.insert(print.ino, one);
        Ok(Some(self.next - 1))
    }

    /// The number of a file that has one.
    pub fn number_of(&self, print: &Fingerprint) -> Option<u32> {
        let one = self.known.get(&print.ino)?;
        one.print.same_file(print).then_some(one.number)
    }

    /// Whether a file may have a number.
    pub fn may_know(&self, ino: u64) -> bool {
        self.known.contains_key(&ino)
    }

    /// The content of a file changes other than by writes: its number is not used again. Must return
    /// before the content changes.
    ///
    /// # Errors
    /// Of the file system; then the number must not be used either.
    pub fn retire(&mut self, ino: u64, number: u32) -> io::Result<()> {
        if self.known.get(&ino).is_some_and(|one| one.number == number) {
            self.known.remove(&ino);
        }
        self.append(&Line::Gone(number))
    }

    /// Writes the table anew, with what files are now, unless the mount has ended: somebody else may
    /// have changed them then. Call it after a checkpoint.
    ///
    /// `paths` has the current paths of files by inode, as far as they are known.
    ///
    /// # Errors
    /// Of the file system; then the old table counts.
    pub fn refresh(
        &mut self,
        paths: &HashMap<u64, String>,
        mounted: impl FnOnce() -> bool,
    ) -> io::Result<()> {
        let before = self.known.clone();
        let root = self.root.as_fd();
        self.known.retain(|ino, one| {
            if let Some(path) = paths.get(ino) {
                one.path.clone_from(path);
            }
            let found = print_at(root, &one.path).ok().filter(|print| print.same_file(&one.print));
            if let Some(print) = found {
                one.print = print;
            }
            found.is_some() || paths.contains_key(ino)
        });
        if !mounted() {
            self.known = before;
            return Ok(());
        }
        self.write()
    }

    fn write(&mut self) -> io::Result<()> {
        let (path, new) = (self.folder.join(NAME), self.folder.join(format!("{NAME}.new")));
        let mut text = Vec::new();
        let lines = self.known.values().cloned().map(Line::Known);
        for line in [Line::Next(self.next)].into_iter().chain(lines) {
            encode(&mut text, &line);
        }
        let mut file = create(&new)?;
        file.write_all(&text)?;
        file.sync_all()?;
        // Opened before, so that no error leaves the log of a table that is gone.
        let log = File::options().append(true).open(&new)?;
        std::fs::rename(&new, &path)?;
        self.log = log;
        File::open(&self.folder)?.sync_all()
    }

    fn append(&mut self, line: &Line) -> io::Result<()> {
        // A line that a full device cut off must not take the next one with it.
        let mut text = vec![b'\n'];
        encode(&mut text, line);
        self.log.write_all(&text)
    }
}

/// Makes a file in the folder of a cache, or empties it; others may not read it.
///
/// # Errors
/// Of the file system.
pub fn create(path: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// A log to which nothing is written, until the table is.
fn no_log() -> io::Result<File> {
    File::options().append(true).open("/dev/null")
}

fn encode(text: &mut Vec<u8>, line: &Line) {
    text.extend(serde_json::to_vec(line).unwrap_or_default());
    text.push(b'\n');
}

/// The files of a table by inode, and the next number. A line that was cut off by a crash is left
/// out: no block can have its number.
fn read(path: &Path) -> io::Result<(HashMap<u64, Known>, u32)> {
    let (mut known, mut next) = (HashMap::new(), 1);
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((known, next)),
        other => other?,
    };
    if file.metadata()?.len() > MAX_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the table of files is too large"));
    }
    for line in BufReader::new(file).lines() {
        match serde_json::from_str(&line?) {
            Ok(Line::Known(one)) => {
                next = next.max(one.number + 1);
                known.insert(one.print.ino, one);
            }
            Ok(Line::Gone(number)) => known.retain(|_, one: &mut Known| one.number != number),
            Ok(Line::Next(number)) => next = next.max(number),
            Err(_) => {}
        }
    }
    Ok((known, next))
}

fn print_at(root: BorrowedFd<'_>, path: &str) -> io::Result<Fingerprint> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let file = openat2(root, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)?;
    Fingerprint::of(file.as_fd())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_a_full_device_cut_off_costs_no_other() {
        let folder = std::env::temp_dir().join(format!("dyno-files-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let root = || OwnedFd::from(File::open(&folder).unwrap());
        let print = Fingerprint::of(root().as_fd()).unwrap();
        let mut files = Files::create(&folder, root()).unwrap();
        let number = files.number(root().as_fd(), ".").unwrap().unwrap();
        files.log.write_all(b"\n{\"known\":{\"num").unwrap();
        files.retire(print.ino, number).unwrap();
        let (known, next) = read(&folder.join(NAME)).unwrap();
        assert!(known.is_empty());
        assert_eq!(next, number + 1);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
