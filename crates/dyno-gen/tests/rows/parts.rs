//! The parts of a table, in order, are the table, however it is split.

use dyno_gen::sink::{PgCopySink, SumSink, TextFormat, TextSink};
use dyno_gen::{Dataset, Part, Workload, sums};
use dyno_record::{Control, ErrorKind};
use proptest::prelude::*;

fn text(data: &Dataset, parts: impl IntoIterator<Item = Part>) -> Vec<u8> {
    let mut text = Vec::new();
    let mut sink = TextSink::new(TextFormat::Tbl, |chunk: &[u8]| {
        text.extend_from_slice(chunk);
        Ok(())
    });
    for part in parts {
        data.write(&part, &mut sink, &Control::new()).unwrap();
    }
    sink.finish().unwrap();
    text
}

fn cases() -> Vec<(Dataset, &'static str)> {
    // At these scales each table has several units, and none divides evenly.
    [
        (Workload::Tpch, 0.1037),
        (Workload::Tpcc, 2.0),
        (Workload::Brokerage, 0.1),
        (Workload::Ch, 2.0),
    ]
    .into_iter()
    .flat_map(|(workload, scale)| {
        let days = (workload == Workload::Brokerage).then_some(2);
        let data = Dataset::new(workload, scale, 7).unwrap().with_days(days).unwrap();
        workload.tables().iter().map(move |table| (data.clone(), table.name))
    })
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]
    #[test]
    fn the_union_of_parts_is_the_table(wanted in 2u64..40) {
        for (data, table) in cases() {
            let whole = text(&data, data.parts(table, 1).unwrap());
            let parts = data.parts(table, wanted).unwrap();
            prop_assert!(parts.len() as u64 <= wanted);
            prop_assert!(text(&data, parts) == whole, "{} in {}", table, wanted);
        }
    }
}

#[test]
fn parts_beyond_the_rows_are_empty() {
    let data = Dataset::new(Workload::Tpch, 0.01, 1).unwrap();
    assert_eq!(data.parts("region", 8).unwrap().len(), 1);
    let all = (0..8).map(|index| data.part("region", index, 8).unwrap());
    assert_eq!(text(&data, all), text(&data, data.parts("region", 1).unwrap()));
}

#[test]
fn writing_counts_rows_and_stops_when_cancelled() {
    let data = Dataset::new(Workload::Tpcc, 1.0, 7).unwrap();
    let part = data.part("history", 0, 1).unwrap();
    let control = Control::new();
    let mut sink = PgCopySink::new(part.table.columns.len(), |_: &[u8]| Ok(()));
    assert_eq!(data.write(&part, &mut sink, &control).unwrap(), 30_000);
    let progress = control.progress();
    assert_eq!(progress.done, 30_000);
    assert_eq!(progress.bytes + 19 + 2, sink.finish().unwrap(), "all but header and trailer");

    control.cancel();
    let mut sink = PgCopySink::new(part.table.columns.len(), |_: &[u8]| Ok(()));
    let error = data.write(&part, &mut sink, &control).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Cancelled);
}

#[test]
fn the_data_depends_on_the_seed_only() {
    let rows = |seed, warehouses| {
        let data = Dataset::new(Workload::Tpcc, warehouses, seed).unwrap();
        let first = data.parts("customer", u64::MAX).unwrap()[0];
        text(&data, [first])
    };
    assert!(rows(1, 1.0) == rows(1, 9.0), "a warehouse is the same at every scale");
    assert!(rows(1, 1.0) != rows(2, 1.0));
}

#[test]
fn sums_are_those_of_the_parts_whatever_the_threads() {
    for (data, table) in cases() {
        let mut parts = SumSink::new(data.table(table).unwrap());
        for part in data.parts(table, 3).unwrap() {
            let mut sink = SumSink::new(part.table);
            data.write(&part, &mut sink, &Control::new()).unwrap();
            parts.merge(&sink);
        }
        let whole = sums(&data, table, 4, &Control::new()).unwrap();
        assert_eq!((whole.rows(), whole.sums()), (parts.rows(), parts.sums()), "{table}");
        assert!(whole.rows() > 0 || table == "trade_request", "{table}");
    }
}
