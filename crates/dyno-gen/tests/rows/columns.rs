//! Parquet and Arrow files have the rows of the dataset in order.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::FileReader;
use dyno_gen::{Dataset, FileFormat, GeneratePlan, Workload, arrow_reader, declare, generate};
use dyno_record::Control;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Encoding, Type};
use proptest::prelude::*;

use crate::files::{Folder, plan};

fn read(path: &Path) -> Vec<RecordBatch> {
    let file = File::open(path).unwrap();
    if path.extension().unwrap() == "arrow" {
        return FileReader::try_new(file, None).unwrap().map(Result::unwrap).collect();
    }
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    reader.map(Result::unwrap).collect()
}

/// Rows of a table as engines get them, in order.
fn expected(workload: Workload, scale: f64, table: &str) -> Vec<RecordBatch> {
    let data = Arc::new(Dataset::new(workload, scale, 1).unwrap());
    arrow_reader(data, table, 1, Control::new()).unwrap().map(Result::unwrap).collect()
}

/// Whether both have the same rows and types, however they are split into batches.
fn same(one: &[RecordBatch], other: &[RecordBatch]) -> bool {
    let mut others = other.iter().map(|batch| batch.slice(0, batch.num_rows()));
    let mut rest: Option<RecordBatch> = None;
    for batch in one {
        let mut start = 0;
        while start < batch.num_rows() {
            let Some(left) = rest.take().or_else(|| others.next()) else { return false };
            let rows = left.num_rows().min(batch.num_rows() - start);
            if batch.slice(start, rows).columns() != left.slice(0, rows).columns()
                || batch.schema().fields() != left.schema().fields()
            {
                return false;
            }
            start += rows;
            let more = left.num_rows() - rows;
            rest = (more > 0).then(|| left.slice(rows, more));
        }
    }
    rest.is_none() && others.next().is_none()
}

#[test]
fn files_have_the_rows_of_every_table_in_order() {
    for (workload, scale) in [
        (Workload::Tpch, 0.05),
        (Workload::Tpcc, 1.0),
        (Workload::Brokerage, 0.1),
        (Workload::Ch, 1.0),
    ] {
        for format in [FileFormat::Parquet, FileFormat::Arrow] {
            let folder = Folder::new(&format!("columns-{}", format.as_str()));
            let all = GeneratePlan { workload, scale, format, tables: None, ..plan(&folder.0) };
            let outcome = generate(all, &Control::new()).unwrap();
            for table in &outcome.tables {
                let found = read(&folder.0.join(&table.files[0]));
                let rows: usize = found.iter().map(RecordBatch::num_rows).sum();
                assert_eq!(rows as u64, table.rows);
                let expected = expected(workload, scale, &table.table);
                assert!(same(&expected, &found), "{} as {format:?}", table.table);
            }
        }
    }
}

#[test]
fn parquet_stores_columns_by_what_they_hold() {
    let folder = Folder::new("stored");
    let parquet = GeneratePlan { format: FileFormat::Parquet, ..plan(&folder.0) };
    generate(parquet, &Control::new()).unwrap();
    let file = File::open(folder.0.join("lineitem.parquet")).unwrap();
    let stored = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().metadata().clone();
    assert_eq!(stored.num_row_groups(), 3, "of 300,000 rows");
    for group in stored.row_groups() {
        let column = |name: &str| {
            group.columns().iter().find(|column| column.column_path().string() == name).unwrap()
        };
        let (price, comment) = (column("l_extendedprice"), column("l_comment"));
        assert_eq!(price.column_type(), Type::INT64, "a decimal is an integer");
        assert!(price.statistics().is_some() && comment.statistics().is_none());
        let by = |name, encoding| column(name).encodings().any(|one| one == encoding);
        for (name, encoding) in [
            ("l_orderkey", Encoding::DELTA_BINARY_PACKED),
            ("l_quantity", Encoding::RLE_DICTIONARY),
            ("l_shipmode", Encoding::RLE_DICTIONARY),
            ("l_extendedprice", Encoding::PLAIN),
            ("l_comment", Encoding::DELTA_LENGTH_BYTE_ARRAY),
        ] {
            assert!(by(name, encoding), "{name}");
            assert_eq!(by(name, Encoding::RLE_DICTIONARY), encoding == Encoding::RLE_DICTIONARY);
        }
    }
}

fn shop() -> Workload {
    let money = r#"{"type": "decimal", "precision": 9, "scale": 2}"#;
    declare(&format!(
        r#"{{"name": "shop-files", "tables": [{{"name": "t", "rows": 1000, "columns": [
            {{"name": "id", "kind": {{"type": "int64"}}, "value": "row"}},
            {{"name": "m", "kind": {money}, "value": {{"between": [-5, 700]}}}},
            {{"name": "w", "kind": {{"type": "varchar", "max": 9}}, "value": {{"letters": [0, 9]}}}}
        ]}}]}}"#
    ))
    .unwrap();
    Workload::parse("shop-files").unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn parts_in_order_are_the_table(
        thousands in 1u32..300, parts in 1u64..5, threads in 1usize..5, as_parquet: bool
    ) {
        let (workload, scale) = (shop(), f64::from(thousands));
        let format = if as_parquet { FileFormat::Parquet } else { FileFormat::Arrow };
        let folder = Folder::new("shop");
        let whole = GeneratePlan { workload, scale, format, tables: None, ..plan(&folder.0) };
        let outcome = generate(GeneratePlan { parts, threads, ..whole }, &Control::new()).unwrap();
        let files = outcome.tables[0].files.iter();
        let found: Vec<_> = files.flat_map(|name| read(&folder.0.join(name))).collect();
        prop_assert!(same(&expected(workload, scale, "t"), &found));
    }
}
