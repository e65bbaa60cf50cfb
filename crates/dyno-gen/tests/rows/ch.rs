//! The tables that analytical queries need next to those of `tpcc`.

use std::collections::HashSet;

use dyno_gen::sink::{TextFormat, TextSink};
use dyno_gen::{Dataset, Workload};
use dyno_record::{Control, ErrorKind};

fn rows(table: &str, scale: f64, seed: u64) -> Vec<Vec<String>> {
    let data = Dataset::new(Workload::Ch, scale, seed).unwrap();
    let mut text = Vec::new();
    let mut sink = TextSink::new(TextFormat::Tbl, |chunk: &[u8]| {
        text.extend_from_slice(chunk);
        Ok(())
    });
    for part in data.parts(table, 3).unwrap() {
        data.write(&part, &mut sink, &Control::new()).unwrap();
    }
    sink.finish().unwrap();
    let text = String::from_utf8(text).unwrap();
    text.lines().map(|line| line.split('|').map(str::to_owned).collect()).collect()
}

fn column(rows: &[Vec<String>], at: usize) -> HashSet<&str> {
    rows.iter().map(|row| row[at].as_str()).collect()
}

#[test]
fn the_rows_depend_on_neither_scale_nor_seed() {
    for (table, count) in [("region", 5), ("nation", 62), ("supplier", 10_000)] {
        let found = rows(table, 1.0, 1);
        assert!(found == rows(table, 7.0, 3), "{table}");
        assert_eq!(found.len(), count);
    }
    assert_eq!(Workload::Ch.home(), Workload::Tpcc);
    assert_eq!(Workload::Tpch.home(), Workload::Tpch);
}

#[test]
fn the_scale_is_that_of_its_home() {
    for scale in [0.0, 0.5, f64::NAN] {
        let error = Dataset::new(Workload::Ch, scale, 1).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage);
    }
}

#[test]
fn nations_are_letters_and_digits_with_a_region_and_suppliers() {
    let (regions, nations) = (rows("region", 1.0, 1), rows("nation", 1.0, 1));
    let suppliers = rows("supplier", 1.0, 1);
    let codes = (b'0'..=b'9').chain(b'A'..=b'Z').chain(b'a'..=b'z');
    let keys: Vec<_> = nations.iter().map(|row| row[0].clone()).collect();
    assert_eq!(keys, codes.map(|code| code.to_string()).collect::<Vec<_>>());
    assert_eq!(column(&nations, 1).len(), nations.len());
    assert_eq!(column(&nations, 2), column(&regions, 0));
    assert_eq!(column(&suppliers, 3), column(&nations, 0));
    let numbers: Vec<_> = suppliers.iter().map(|row| row[0].parse::<usize>().unwrap()).collect();
    assert_eq!(numbers, (0..10_000).collect::<Vec<_>>());
    assert_eq!(suppliers.iter().filter(|row| row[6].contains("complaints")).count(), 20);
}
