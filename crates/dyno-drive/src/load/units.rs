//! Splits a load into units of work that keep all streams busy to the end.

use dyno_gen::{Dataset, Part};
use dyno_record::Result;

/// Units per stream: enough for the last ones to be short relative to the total.
const UNITS_PER_STREAM: u64 = 8;

/// Approximate maximum size of a unit, which is what an interrupted load may have to repeat.
const UNIT_BYTES: u64 = 256 << 20;

/// Splits `tables` into parts, largest table first. With one stream only large tables are split;
/// with several, tables are split in proportion to their bytes.
///
/// # Errors
/// `usage` if the workload has no such table.
pub fn cut(data: &Dataset, tables: &[&'static str], streams: u32) -> Result<Vec<Part>> {
    let mut sized = Vec::with_capacity(tables.len());
    for table in tables {
        sized.push((data.expected_bytes(table)?, *table));
    }
    let total: u64 = sized.iter().map(|(bytes, _)| bytes).sum();
    let wanted = match u64::from(streams) {
        1 => 1,
        streams => streams * UNITS_PER_STREAM,
    };
    // Stable: tables of equal size keep their order.
    sized.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    let mut parts = Vec::new();
    for (bytes, table) in sized {
        let share = if wanted == 1 { 1 } else { (bytes * wanted).div_ceil(total.max(1)) };
        parts.extend(data.parts(table, share.max(bytes.div_ceil(UNIT_BYTES)))?);
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_gen::Workload;

    fn parts(scale: f64, streams: u32) -> Vec<Part> {
        let data = Dataset::new(Workload::Tpch, scale, 1).unwrap();
        let tables: Vec<_> = data.tables().iter().map(|table| table.name).collect();
        cut(&data, &tables, streams).unwrap()
    }

    #[test]
    fn one_stream_takes_whole_tables_largest_first() {
        let parts = parts(0.1, 1);
        assert_eq!(parts.len(), 8);
        assert_eq!(parts[0].table.name, "lineitem");
        assert!(parts.iter().all(|part| part.of == 1));
    }

    #[test]
    fn more_streams_take_parts_in_proportion() {
        let parts = parts(1.0, 2);
        let count = |table| parts.iter().filter(|part| part.table.name == table).count();
        assert!((10..=14).contains(&count("lineitem")), "{}", count("lineitem"));
        assert_eq!(count("region"), 1);
        assert_eq!(parts.last().unwrap().of, 1);
    }

    #[test]
    fn large_tables_are_cut_whatever_the_streams() {
        let parts = parts(10.0, 1);
        let count = |table| parts.iter().filter(|part| part.table.name == table).count();
        assert!((25..=32).contains(&count("lineitem")), "{}", count("lineitem"));
        assert_eq!(count("nation"), 1);
    }
}
