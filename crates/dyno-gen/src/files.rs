//! A workload's rows as files.

mod arrow;
mod destination;
mod format;
mod line;
mod parquet;
mod text;
mod turns;

use std::cmp::Reverse;
use std::fs;
use std::path::PathBuf;

use dyno_record::{Control, Error, Result};
use serde::{Deserialize, Serialize};

use crate::dataset::{Dataset, Workload};
use crate::sink::TextFormat;
use crate::usage::usage;
use arrow::Arrow;
use destination::Destination;
pub use format::FileFormat;
use line::write;
use parquet::Parquet;
use text::Text;

/// Maximum number of files per table.
const MOST_PARTS: u64 = 100_000;

/// Maximum number of threads.
pub(crate) const MOST_THREADS: usize = 1024;

/// What to write, and where.
#[derive(Debug, Clone, Deserialize)]
pub struct GeneratePlan {
    /// The workload.
    pub workload: Workload,
    /// Scale factor, warehouses, or thousands of customers.
    pub scale: f64,
    /// Initial days of the data; default: the workload's usual number, if it has any.
    #[serde(default)]
    pub days: Option<u32>,
    /// Seed of the random values.
    pub seed: u64,
    /// Format, also the file extension.
    pub format: FileFormat,
    /// The folder, created if missing. A device such as `/dev/null` takes all files as one stream.
    pub dir: PathBuf,
    /// Files per table.
    #[serde(default = "one")]
    pub parts: u64,
    /// Write only this part, from 1.
    #[serde(default)]
    pub part: Option<u64>,
    /// Threads that generate rows.
    pub threads: usize,
    /// Write only these tables.
    #[serde(default)]
    pub tables: Option<Vec<String>>,
    /// Overwrite existing files.
    #[serde(default)]
    pub replace: bool,
}

fn one() -> u64 {
    1
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// All tables, in the order of the workload.
    pub tables: Vec<TableOutcome>,
}

/// What was written for one table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableOutcome {
    /// Name of the table.
    pub table: String,
    /// Rows in all files.
    pub rows: u64,
    /// Bytes in all files.
    pub bytes: u64,
    /// Duration.
    pub seconds: f64,
    /// Names of the files in the folder.
    pub files: Vec<String>,
}

/// Writes the files of `plan`: `lineitem.tbl`, or with several parts `lineitem.3.tbl`, the largest
/// table first. The parts of a table, concatenated in order, are the table: text is the same byte
/// for byte (CSV without its headers). Files do not depend on the number of threads. A file gets
/// its name only when it is complete. Progress counts rows.
///
/// # Errors
/// `usage` for an invalid plan, or if a file exists and `replace` is not set; `disk_full` or `io`
/// with the path, after removing the incomplete file; `cancelled`.
#[expect(clippy::needless_pass_by_value, reason = "every engine takes its plan whole")]
pub fn generate(plan: GeneratePlan, control: &Control) -> Result<Outcome> {
    let data = Dataset::new(plan.workload, plan.scale, plan.seed)?.with_days(plan.days)?;
    let tables = plan.chosen_tables(&data)?;
    let numbers = plan.chosen_parts()?;
    let device = plan.is_device();
    if !device {
        let in_dir = |error| Error::from_io(&error, format!("creating {}", plan.dir.display()));
        fs::create_dir_all(&plan.dir).map_err(in_dir)?;
    }
    let mut files = Vec::new();
    for table in &tables {
        for number in numbers.clone() {
            let destination = if device {
                Destination::device(&plan.dir)
            } else {
                Destination::new(&plan.dir, &plan.file_name(table, number), plan.replace)?
            };
            files.push((data.part(table, number - 1, plan.parts)?, destination));
        }
    }
    let expected = |table: &&str| data.row_count(table).map(|rows| rows.count);
    let rows = tables.iter().map(expected).sum::<Result<u64>>()?;
    control.set_total(rows * (numbers.end() - numbers.start() + 1) / plan.parts);
    // Largest first: this leaves the least work for the end, when there is not enough for all
    // threads.
    files.sort_by_cached_key(|(part, _)| Reverse(data.expected_bytes(part.table.name).ok()));
    let threads = plan.threads;
    let written = match plan.format {
        FileFormat::Tbl => write(&Text(TextFormat::Tbl), &data, files, threads, control),
        FileFormat::Csv => write(&Text(TextFormat::Csv), &data, files, threads, control),
        FileFormat::Parquet => write(&Parquet::new(&data), &data, files, threads, control),
        FileFormat::Arrow => write(&Arrow, &data, files, threads, control),
    }?;
    let outcome = |table: &str| {
        let of_table = || written.iter().filter(|file| file.table == table);
        TableOutcome {
            table: table.to_owned(),
            rows: of_table().map(|file| file.rows).sum(),
            bytes: of_table().map(|file| file.bytes).sum(),
            seconds: of_table().map(|file| file.seconds).sum(),
            files: numbers.clone().map(|number| plan.file_name(table, number)).collect(),
        }
    };
    Ok(Outcome { tables: tables.into_iter().map(outcome).collect() })
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

    /// Whether the output is a device, which discards the rows.
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
