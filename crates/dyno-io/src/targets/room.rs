//! Checks before writing whether created files fit, at their final size.

use std::collections::BTreeMap;
use std::path::Path;

use dyno_record::{Error, ErrorKind, Result};
use rustix::fs::fstatvfs;

use super::{Kind, OpenTarget};
use crate::Plan;

/// Space left free for others on a volume.
const SPARE_BYTES: u64 = 64 << 20;

/// The total of created files on a file system.
struct Need<'a> {
    place: &'a OpenTarget,
    directory: &'a Path,
    files: usize,
    bytes: u64,
}

/// Fails unless each file system has space for its created files.
///
/// # Errors
/// `disk_full` with the numbers; `io`.
pub(super) fn check(plan: &Plan, places: &[OpenTarget]) -> Result<()> {
    let mut needs: BTreeMap<u64, Need<'_>> = BTreeMap::new();
    for (target, place) in plan.targets.iter().zip(places) {
        if place.kind != Kind::Made {
            continue;
        }
        let directory = target.place();
        let fresh = Need { place, directory, files: 0, bytes: 0 };
        let need = needs.entry(place.device()).or_insert(fresh);
        need.files += 1;
        need.bytes = need.bytes.saturating_add(target.most_bytes().unwrap_or_default());
    }
    needs.into_values().try_for_each(|need| need.is_met(plan))
}

impl Need<'_> {
    fn is_met(&self, plan: &Plan) -> Result<()> {
        let stat = fstatvfs(&self.place.file)
            .map_err(|error| self.place.error(&error.into(), "reading the free space of"))?;
        let free = stat.f_bavail.saturating_mul(stat.f_frsize);
        let needed = self.bytes.saturating_add(SPARE_BYTES);
        // Some network file systems report no size at all.
        if stat.f_blocks == 0 || free >= needed {
            return Ok(());
        }
        let what = match self.files {
            1 => "the test file needs".to_owned(),
            files => format!("the {files} test files need"),
        };
        let last = match plan.stages() {
            1 => String::new(),
            stages => format!(" for the last of {stages} stages"),
        };
        let text = format!(
            "{what} {} free in {}{last}, which has {}: free some space or use a smaller file",
            mib(needed),
            self.directory.display(),
            mib(free)
        );
        Err(Error::new(ErrorKind::DiskFull, text))
    }
}

fn mib(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}
