//! A workload's rows as text files.

mod turns;

use std::cell::Cell;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use dyno_record::{Control, Error, Result};
use serde::{Deserialize, Serialize};

use crate::dataset::{Dataset, Part, Workload};
use crate::sink::{TextFormat, TextSink};
use crate::usage::usage;
use turns::Turns;

/// Maximum number of files per table.
const MOST_PARTS: u64 = 100_000;

/// Maximum number of threads.
pub(crate) const MOST_THREADS: usize = 1024;

/// What to write where.
#[derive(Debug, Clone, Deserialize)]
pub struct GeneratePlan {
    /// The workload.
    pub workload: Workload,
    /// Scale factor or warehouses.
    pub scale: f64,
    /// Seed of the random choices.
    pub seed: u64,
    /// Format, and extension of the files.
    pub format: TextFormat,
    /// The folder; made if it is missing. A device such as `/dev/null` takes all files as one.
    pub dir: PathBuf,
    /// Files for each table.
    #[serde(default = "one")]
    pub parts: u64,
    /// Only this one of the parts, from 1.
    #[serde(default)]
    pub part: Option<u64>,
    /// Threads that generate.
    pub threads: usize,
    /// Only these tables.
    #[serde(default)]
    pub tables: Option<Vec<String>>,
    /// Whether files that are there already are overwritten.
    #[serde(default)]
    pub replace: bool,
}

fn one() -> u64 {
    1
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// Each table, in the order of writing.
    pub tables: Vec<TableOutcome>,
}

/// What was written of one table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableOutcome {
    /// Name of the table.
    pub table: String,
    /// Rows in its files.
    pub rows: u64,
    /// Bytes in its files.
    pub bytes: u64,
    /// How long it took.
    pub seconds: f64,
    /// Names of its files, within the folder.
    pub files: Vec<String>,
}

/// Writes the files of `plan`: `lineitem.tbl`, or with several parts `lineitem.3.tbl`. The parts of
/// a table, put together in order (of CSV, without their headers), are the file of one part, byte
/// for byte. A file appears under its name only when it is whole. Progress counts rows.
///
/// # Errors
/// `usage` for an impossible plan, and where a file is there already and `replace` is not set;
/// `disk_full` or `io` with the path, after removing the file that was not finished; `cancelled`.
#[expect(clippy::needless_pass_by_value, reason = "every engine takes its plan whole")]
pub fn generate(plan: GeneratePlan, control: &Control) -> Result<Outcome> {
    let data = Dataset::new(plan.workload, plan.scale, plan.seed)?;
    let tables = plan.chosen_tables(&data)?;
    let numbers = plan.chosen_parts()?;
    let in_dir = |error| Error::from_io(&error, format!("creating {}", plan.dir.display()));
    let device = plan.is_device();
    if !device {
        fs::create_dir_all(&plan.dir).map_err(in_dir)?;
    }
    if !device {
        for (table, number) in tables.iter().flat_map(|t| numbers.clone().map(move |n| (t, n))) {
            let path = plan.dir.join(plan.file_name(table, number));
            check_place(&path, plan.replace)?;
        }
    }
    let expected = |table: &&str| data.row_count(table).map(|rows| rows.count);
    let rows = tables.iter().map(expected).sum::<Result<u64>>()?;
    control.set_total(rows * (numbers.end() - numbers.start() + 1) / plan.parts);

    let mut outcome = Outcome { tables: Vec::new() };
    for table in tables {
        control.set_step(table);
        let start = Instant::now();
        let (mut rows, mut bytes, mut files) = (0, 0, Vec::new());
        for number in numbers.clone() {
            let name = plan.file_name(table, number);
            let part = data.part(table, number - 1, plan.parts)?;
            let written = write_file(&plan, &data, &part, &name, control)?;
            rows += written.0;
            bytes += written.1;
            files.push(name);
        }
        let seconds = start.elapsed().as_secs_f64();
        outcome.tables.push(TableOutcome { table: table.to_owned(), rows, bytes, seconds, files });
    }
    Ok(outcome)
}

impl GeneratePlan {
    fn chosen_tables(&self, data: &Dataset) -> Result<Vec<&'static str>> {
        match &self.tables {
            None => Ok(data.tables().iter().map(|table| table.name).collect()),
            Some(names) => names.iter().map(|name| Ok(data.table(name)?.name)).collect(),
        }
    }

    fn chosen_parts(&self) -> Result<std::ops::RangeInclusive<u64>> {
        match (self.parts, self.part) {
            (parts, _) if !(1..=MOST_PARTS).contains(&parts) => {
                Err(usage(format!("parts must be 1 to {MOST_PARTS}, not {parts}")))
            }
            (parts, Some(part)) if part < 1 || part > parts => {
                Err(usage(format!("part {part} does not exist: choose 1 to {parts}")))
            }
            (_, Some(part)) => Ok(part..=part),
            (parts, None) => Ok(1..=parts),
        }
    }

    /// Whether rows are to be written and not kept.
    fn is_device(&self) -> bool {
        use std::os::unix::fs::FileTypeExt as _;
        fs::metadata(&self.dir).is_ok_and(|found| found.file_type().is_char_device())
    }

    fn file_name(&self, table: &str, number: u64) -> String {
        let extension = self.format.as_str();
        match self.parts {
            1 => format!("{table}.{extension}"),
            _ => format!("{table}.{number}.{extension}"),
        }
    }
}

/// Writes one file; returns its rows and bytes.
fn write_file(
    plan: &GeneratePlan,
    data: &Dataset,
    part: &Part,
    name: &str,
    control: &Control,
) -> Result<(u64, u64)> {
    if plan.is_device() {
        let failed = |error| Error::from_io(&error, format!("opening {}", plan.dir.display()));
        let file = File::options().write(true).open(&plan.dir).map_err(failed)?;
        return write_part(plan, data, part, &PartFile { path: &plan.dir, file }, control);
    }
    let path = plan.dir.join(name);
    let partial = plan.dir.join(format!(".{name}.partial"));
    let failed =
        |error: std::io::Error| Error::from_io(&error, format!("writing {}", path.display()));
    let written = new_file(&partial).map_err(failed).and_then(|file| {
        let file = PartFile { path: &path, file };
        write_part(plan, data, part, &file, control)
    });
    let written = written.and_then(|written| {
        check_place(&path, plan.replace)?;
        fs::rename(&partial, &path).map_err(failed)?;
        Ok(written)
    });
    if written.is_err() {
        let _ = fs::remove_file(&partial); // the error that matters is the first
    }
    written
}

/// Refuses what is in the way of a new file: only regular files are ever replaced.
fn check_place(path: &Path, replace: bool) -> Result<()> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    let path = path.display();
    if !found.is_file() {
        return Err(usage(format!(
            "{path} is not a regular file; remove it or use another folder"
        )));
    }
    if !replace {
        return Err(usage(format!("{path} exists; remove it or use --replace")));
    }
    Ok(())
}

/// A file that was not there before. What is in its place goes first, so that a killed run does
/// not leave its gigabytes; a link is removed and never followed.
fn new_file(path: &Path) -> std::io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => File::create_new(path),
    }
}

/// The file of a part under way.
struct PartFile<'p> {
    path: &'p Path,
    file: File,
}

impl PartFile<'_> {
    fn write(&self, chunk: &[u8]) -> Result<()> {
        (&self.file)
            .write_all(chunk)
            .map_err(|error| Error::from_io(&error, format!("writing {}", self.path.display())))
    }
}

/// Generates a part's units on several threads, each of which writes when its unit's turn comes.
fn write_part(
    plan: &GeneratePlan,
    data: &Dataset,
    part: &Part,
    file: &PartFile,
    control: &Control,
) -> Result<(u64, u64)> {
    let mut header = TextSink::new(plan.format, |chunk: &[u8]| file.write(chunk));
    header.header(part.table);
    let header_bytes = header.finish()?;

    let units = data.units_of(part);
    let (next, turns) = (AtomicU64::new(units.start), Turns::new(units.start));
    let work = || -> Result<(u64, u64)> {
        let unit = Cell::new(0);
        let mut sink = TextSink::new(plan.format, |chunk: &[u8]| {
            turns.wait(unit.get())?;
            file.write(chunk)
        });
        let mut rows = 0;
        loop {
            unit.set(next.fetch_add(1, Relaxed));
            if unit.get() >= units.end {
                return Ok((rows, sink.finish()?));
            }
            rows += data.write_units(part.table, unit.get()..unit.get() + 1, &mut sink, control)?;
            sink.flush()?;
            turns.end(unit.get())?;
        }
    };
    std::thread::scope(|scope| {
        let threads = plan.threads.clamp(1, MOST_THREADS);
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| turns.run(work))).collect();
        let joined: Vec<Result<(u64, u64)>> = workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|_| Err(turns::panicked())))
            .collect();
        joined.into_iter().try_fold((0, header_bytes), |(rows, bytes), written| {
            let written = written?;
            Ok((rows + written.0, bytes + written.1))
        })
    })
}
