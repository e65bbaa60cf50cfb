//! Checks data derived from TPC-H against the `tpchgen` crate with its own text pool. That crate is
//! itself tested against the TPC's generator.

use std::fmt::{Display, Write as _};

use dyno_gen::sink::{TextFormat, TextSink};
use dyno_gen::{Dataset, Part, Workload};
use dyno_record::Control;
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};

fn ours(data: &Dataset, part: &Part) -> String {
    let mut text = Vec::new();
    let mut sink = TextSink::new(TextFormat::Tbl, |chunk: &[u8]| {
        text.extend_from_slice(chunk);
        Ok(())
    });
    let rows = data.write(part, &mut sink, &Control::new()).unwrap();
    sink.finish().unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(text.lines().count() as u64, rows);
    text
}

fn reference(table: &str, scale: f64, part: i32, of: i32) -> String {
    fn lines<R: Display>(rows: impl IntoIterator<Item = R>) -> String {
        let mut text = String::new();
        for row in rows {
            writeln!(text, "{row}").unwrap();
        }
        text
    }
    match table {
        "nation" => lines(NationGenerator::default().iter()),
        "region" => lines(RegionGenerator::default().iter()),
        "part" => lines(PartGenerator::new(scale, part, of)),
        "supplier" => lines(SupplierGenerator::new(scale, part, of)),
        "partsupp" => lines(PartSuppGenerator::new(scale, part, of)),
        "customer" => lines(CustomerGenerator::new(scale, part, of)),
        "orders" => lines(OrderGenerator::new(scale, part, of)),
        "lineitem" => lines(LineItemGenerator::new(scale, part, of)),
        other => panic!("no reference for {other}"),
    }
}

/// Asserts equality; reports the first line that differs.
fn assert_same(what: &str, ours: &str, theirs: &str) {
    for (number, (our, their)) in ours.lines().zip(theirs.lines()).enumerate() {
        assert_eq!(our, their, "{what}, line {}", number + 1);
    }
    assert!(ours == theirs, "{what}: {} bytes against {}", ours.len(), theirs.len());
}

#[test]
fn every_table_equals_the_reference() {
    for scale in [0.01, 0.0137] {
        let data = Dataset::new(Workload::Tpch, scale, 1).unwrap();
        for table in data.tables() {
            let whole = data.part(table.name, 0, 1).unwrap();
            let text = ours(&data, &whole);
            assert_same(table.name, &text, &reference(table.name, scale, 1, 1));
            let count = data.row_count(table.name).unwrap();
            assert!(count.exact);
            assert_eq!(count.count, text.lines().count() as u64, "{}", table.name);
        }
    }
}

#[test]
fn parts_of_scale_one_equal_the_reference() {
    let data = Dataset::new(Workload::Tpch, 1.0, 1).unwrap();
    // Both split tables at different rows, but the last part of each ends with the same row.
    for table in ["part", "partsupp", "customer", "orders", "lineitem"] {
        let last = ours(&data, &data.part(table, 15, 16).unwrap());
        let theirs = reference(table, 1.0, 16, 16);
        let common = last.len().min(theirs.len());
        assert!(common > 1_000_000);
        assert_same(table, &last[last.len() - common..], &theirs[theirs.len() - common..]);
    }
    let suppliers = data.part("supplier", 0, 1).unwrap();
    let text = ours(&data, &suppliers);
    assert_same("supplier", &text, &reference("supplier", 1.0, 1, 1));
    for remark in ["Complaints", "Recommends"] {
        assert!(text.contains(remark), "some suppliers have {remark}");
    }
}

#[test]
fn the_last_rows_of_the_largest_scale_equal_the_reference() {
    let scale = 10_000.0;
    let data = Dataset::new(Workload::Tpch, scale, 1).unwrap();
    let of = 1_000_000;
    for table in ["part", "supplier", "partsupp", "customer", "orders", "lineitem"] {
        let last = ours(&data, &data.part(table, of - 1, of).unwrap());
        let theirs = reference(table, scale, of as i32, of as i32);
        let common = last.len().min(theirs.len());
        assert!(common > 10_000);
        assert_same(table, &last[last.len() - common..], &theirs[theirs.len() - common..]);
    }
}

#[test]
fn known_counts_at_scale_one() {
    let data = Dataset::new(Workload::Tpch, 1.0, 1).unwrap();
    for (table, rows) in [
        ("part", 200_000),
        ("supplier", 10_000),
        ("partsupp", 800_000),
        ("customer", 150_000),
        ("orders", 1_500_000),
        ("lineitem", 6_001_215),
        ("nation", 25),
        ("region", 5),
    ] {
        let count = data.row_count(table).unwrap();
        assert_eq!((count.count, count.exact), (rows, true), "{table}");
    }
    // Published by the TPC for scale 10.
    let ten = Dataset::new(Workload::Tpch, 10.0, 1).unwrap();
    assert_eq!(ten.row_count("lineitem").unwrap().count, 59_986_052);
    let huge = Dataset::new(Workload::Tpch, 10_000.0, 1).unwrap();
    assert!(!huge.row_count("lineitem").unwrap().exact);
}
