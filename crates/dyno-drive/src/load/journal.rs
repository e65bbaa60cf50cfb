//! The completed parts of a load.

use dyno_gen::Part;
use dyno_record::{Error, ErrorKind, Result};

use super::plan::{DonePart, Journal};

/// The parts left to load.
///
/// # Errors
/// `usage` if the journal belongs to a load with a different split into parts.
pub fn remaining(parts: Vec<Part>, journal: Option<&Journal>) -> Result<Vec<Part>> {
    let done = journal.map_or(&[][..], |journal| &journal.done);
    for entry in done {
        let known = parts.iter().any(|part| is_same(part, entry));
        if !known {
            let DonePart { table, part, parts, .. } = entry;
            let message = format!(
                "the interrupted load used other parts: part {part} of {parts} of {table} is \
                 not one of this load's; omit --streams to resume it as it was, or use \
                 --replace"
            );
            return Err(Error::new(ErrorKind::Usage, message));
        }
    }
    Ok(parts.into_iter().filter(|part| !done.iter().any(|entry| is_same(part, entry))).collect())
}

/// Rows of completed parts.
pub fn rows_done(journal: Option<&Journal>) -> u64 {
    journal.map_or(0, |journal| journal.done.iter().map(|entry| entry.rows).sum())
}

/// The statement that records a part, for the end of its transaction. `table` is the journal's
/// quoted name.
pub fn record(table: &str, part: &Part, rows: u64) -> String {
    format!(
        "insert into {table} (part_table, part, parts, part_rows) values ('{}', {}, {}, {rows})",
        part.table.name, // from our own schema: needs no escaping
        part.index + 1,
        part.of,
    )
}

fn is_same(part: &Part, entry: &DonePart) -> bool {
    part.table.name == entry.table && part.index + 1 == entry.part && part.of == entry.parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_gen::{Dataset, Workload};

    fn parts(of: u64) -> Vec<Part> {
        let data = Dataset::new(Workload::Tpch, 1.0, 1).unwrap();
        data.parts("orders", of).unwrap()
    }

    fn journal(part: u64, parts: u64) -> Journal {
        let table = "orders".to_owned();
        Journal {
            table: "journal".to_owned(),
            done: vec![DonePart { table, part, parts, rows: 7 }],
        }
    }

    #[test]
    fn what_is_done_is_left_out() {
        let journal = journal(2, 3);
        let left = remaining(parts(3), Some(&journal)).unwrap();
        assert_eq!(left.iter().map(|part| part.index).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(rows_done(Some(&journal)), 7);
        assert_eq!(remaining(parts(3), None).unwrap().len(), 3);
    }

    #[test]
    fn another_cut_is_refused() {
        for (part, of) in [(2, 4), (4, 3), (0, 3)] {
            let error = remaining(parts(3), Some(&journal(part, of))).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Usage);
            assert!(error.message.contains("used other parts"), "{error}");
        }
    }

    #[test]
    fn a_part_is_recorded_under_its_number_from_one() {
        let part = parts(3)[1];
        assert_eq!(
            record("\"journal\"", &part, 9),
            "insert into \"journal\" (part_table, part, parts, part_rows) \
             values ('orders', 2, 3, 9)"
        );
    }
}
