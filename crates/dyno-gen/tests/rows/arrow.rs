//! Arrow batches have the same values as text, and the threads end with the reader.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Decimal64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array as _, RecordBatch, RecordBatchReader as _};
use dyno_gen::sink::{TextFormat, TextSink};
use dyno_gen::{Dataset, Workload, arrow_part_reader, arrow_reader};
use dyno_record::{Control, ErrorKind};

fn batches(data: &Arc<Dataset>, table: &str, threads: usize) -> Vec<RecordBatch> {
    let reader = arrow_reader(data.clone(), table, threads, Control::new()).unwrap();
    let schema = reader.schema();
    let batches: Vec<_> = reader.map(Result::unwrap).collect();
    assert!(batches.iter().all(|batch| batch.schema() == schema));
    batches
}

fn rows(batches: &[RecordBatch]) -> usize {
    batches.iter().map(RecordBatch::num_rows).sum()
}

fn text_rows(data: &Dataset, table: &str) -> Vec<String> {
    let mut text = Vec::new();
    let mut sink = TextSink::new(TextFormat::Tbl, |chunk: &[u8]| {
        text.extend_from_slice(chunk);
        Ok(())
    });
    data.write(&data.part(table, 0, 1).unwrap(), &mut sink, &Control::new()).unwrap();
    sink.finish().unwrap();
    String::from_utf8(text).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn lineitem_has_the_values_of_the_text() {
    let data = Arc::new(Dataset::new(Workload::Tpch, 0.02, 1).unwrap());
    let batches = batches(&data, "lineitem", 2);
    let mut seen: Vec<(i64, i32, i64, i64, String)> = Vec::new();
    for batch in &batches {
        let column = |name: &str| batch.column_by_name(name).unwrap();
        for row in 0..batch.num_rows() {
            seen.push((
                column("l_orderkey").as_primitive::<Int64Type>().value(row),
                column("l_linenumber").as_primitive::<Int32Type>().value(row),
                column("l_quantity").as_primitive::<Decimal64Type>().value(row),
                column("l_tax").as_primitive::<Decimal64Type>().value(row),
                column("l_comment").as_string::<i32>().value(row).to_owned(),
            ));
        }
    }
    seen.sort();
    let expected = text_rows(&data, "lineitem");
    assert_eq!(seen.len(), expected.len());
    for (row, line) in seen.iter().zip(&expected) {
        let fields: Vec<_> = line.split('|').collect();
        assert_eq!(row.0.to_string(), fields[0]);
        assert_eq!(row.1.to_string(), fields[3]);
        assert_eq!((row.2 / 100).to_string(), fields[4], "a whole quantity with two digits");
        assert_eq!(format!("0.{:02}", row.3), fields[7]);
        assert_eq!(row.4, fields[15]);
    }
}

#[test]
fn nulls_are_where_the_text_is_empty() {
    let data = Arc::new(Dataset::new(Workload::Tpcc, 1.0, 3).unwrap());
    let batches = batches(&data, "order_line", 1);
    let expected = text_rows(&data, "order_line");
    assert_eq!(rows(&batches), expected.len());
    let mut lines = expected.iter();
    for batch in &batches {
        let delivered = batch.column_by_name("ol_delivery_d").unwrap();
        let delivered = delivered.as_primitive::<TimestampMicrosecondType>();
        for row in 0..batch.num_rows() {
            let empty = lines.next().unwrap().split('|').nth(6) == Some("");
            assert_eq!(delivered.is_null(row), empty);
        }
    }
}

#[test]
fn every_table_streams_whole() {
    for (workload, scale) in [(Workload::Tpch, 0.03), (Workload::Tpcc, 1.0)] {
        let data = Arc::new(Dataset::new(workload, scale, 3).unwrap());
        for table in data.tables() {
            let expected = data.row_count(table.name).unwrap().count;
            assert_eq!(rows(&batches(&data, table.name, 3)) as u64, expected, "{}", table.name);
        }
    }
}

#[test]
fn a_part_streams_only_its_rows() {
    let data = Arc::new(Dataset::new(Workload::Tpcc, 1.0, 3).unwrap());
    let part = data.part("stock", 1, 5).unwrap();
    let reader = arrow_part_reader(data, &part, 2, Control::new()).unwrap();
    let mut items: Vec<i32> = Vec::new();
    for batch in reader {
        items.extend(batch.unwrap().column(0).as_primitive::<Int32Type>().values());
    }
    items.sort_unstable();
    assert!(items.into_iter().eq(20_001..=40_000));
}

#[test]
fn cancelling_surfaces_through_the_reader() {
    let data = Arc::new(Dataset::new(Workload::Tpcc, 100.0, 3).unwrap());
    let control = Control::new();
    let mut reader = arrow_reader(data, "stock", 2, control.clone()).unwrap();
    assert!(reader.next().unwrap().is_ok());
    control.cancel();
    let error = reader.by_ref().find_map(Result::err).expect("an error in the end");
    let arrow_schema::ArrowError::ExternalError(source) = error else { panic!("{error}") };
    let source = source.downcast::<dyno_record::Error>().unwrap();
    assert_eq!(source.kind, ErrorKind::Cancelled);
    assert!(reader.next().is_none(), "nothing follows the error");
}

#[test]
fn dropping_the_reader_stops_its_threads() {
    // Thousands of warehouses would take minutes: the drop returns because it stops the threads.
    let data = Arc::new(Dataset::new(Workload::Tpcc, 5_000.0, 3).unwrap());
    let mut reader = arrow_reader(data.clone(), "stock", 2, Control::new()).unwrap();
    assert!(reader.next().unwrap().is_ok());
    drop(reader);
    assert_eq!(Arc::strong_count(&data), 1, "no thread holds the data any more");
}
