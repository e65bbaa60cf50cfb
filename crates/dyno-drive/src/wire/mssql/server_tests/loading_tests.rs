//! Bulk loads.

use dyno_gen::sink::SumSink;
use dyno_gen::{Dataset, Workload};
use dyno_record::Control;

use super::*;
use crate::load::{LoadPlan, load};

const SCALE: f64 = 0.002;

/// The type of a column in T-SQL.
fn type_of(kind: dyno_gen::schema::ColumnType) -> String {
    use dyno_gen::schema::ColumnType;
    match kind {
        ColumnType::Int32 => "int".to_owned(),
        ColumnType::Int64 => "bigint".to_owned(),
        ColumnType::Decimal { precision, scale } => format!("decimal({precision},{scale})"),
        ColumnType::Date => "date".to_owned(),
        ColumnType::Timestamp => "datetime2(6)".to_owned(),
        ColumnType::Char { len } => format!("char({len})"),
        ColumnType::Varchar { max } if max > 8000 => "varchar(max)".to_owned(),
        ColumnType::Varchar { max } => format!("varchar({max})"),
    }
}

pub async fn create(place: &Place, workload: Workload) {
    let mut loader = place.loader().await;
    for table in workload.tables() {
        let columns: Vec<String> = table
            .columns
            .iter()
            .map(|column| {
                let null = if column.nullable { "" } else { " not null" };
                format!("{} {}{null}", column.name, type_of(column.kind))
            })
            .collect();
        let key = if table.primary_key.is_empty() {
            String::new()
        } else {
            format!(", primary key ({})", table.primary_key.join(", "))
        };
        let sql = format!("create table {} ({}{key})", table.name, columns.join(", "));
        loader.run(&sql).await.unwrap();
    }
    let journal = "create table journal (part_table varchar(60), part int, parts int, \
                   part_rows bigint)";
    loader.run(journal).await.unwrap();
}

pub fn plan(place: &Place, workload: &str, changes: &Json) -> LoadPlan {
    let mut wire = place.endpoint.clone();
    wire["kind"] = json!("mssql");
    let mut plan = json!({
        "wire": wire, "workload": workload, "scale": SCALE, "seed": 7, "streams": 2
    });
    for (name, value) in changes.as_object().unwrap() {
        plan[name] = value.clone();
    }
    serde_json::from_value(plan).unwrap()
}

/// A number that a query returns.
pub async fn number(place: &Place, sql: &'static str, returns: &'static [Type]) -> i64 {
    let statement = Statement { name: "x", sql: sql.into(), params: &[], returns };
    let mut session = place.wire(&json!({})).connect(&[statement], &alarm()).await.unwrap();
    let slot = session.queue(StatementId(0), &[]);
    session.flush().await.unwrap();
    match returns[0] {
        Type::Decimal(_) => session.decimal(slot, 0, 0).unwrap(),
        _ => session.int(slot, 0, 0).unwrap(),
    }
}

/// Loads in a thread of its own: a load has its own runtimes.
pub fn loaded(plan: LoadPlan) -> dyno_record::Result<crate::LoadOutcome> {
    std::thread::spawn(move || load(&plan, &Control::new())).join().unwrap()
}

/// Queries whose results add up to the sum of a column as [`SumSink`] has it, each with its unit.
fn sums_of(column: &dyno_gen::schema::Column, table: &str) -> Vec<(String, Type, i64)> {
    use dyno_gen::schema::ColumnType;
    let name = column.name;
    let whole = |value: &str, unit| {
        let sum = format!("cast(sum(cast({value} as bigint)) as bigint)");
        (format!("select {sum} from {table}"), Type::BigInt, unit)
    };
    match column.kind {
        ColumnType::Int32 | ColumnType::Int64 => vec![whole(name, 1)],
        ColumnType::Decimal { scale, .. } => {
            let sum = format!("cast(sum({name}) as decimal(38,{scale}))");
            vec![(format!("select {sum} from {table}"), Type::Decimal(scale), 1)]
        }
        ColumnType::Date => vec![whole(&format!("datediff(day, '1970-01-01', {name})"), 1)],
        ColumnType::Char { .. } => vec![whole(&format!("len({name})"), 1)],
        // Blanks at the end count, and all of it is ASCII.
        ColumnType::Varchar { .. } => vec![whole(&format!("datalength({name})"), 1)],
        ColumnType::Timestamp => vec![
            whole(&format!("datediff(second, '1970-01-01', {name})"), 1_000_000),
            whole(&format!("datepart(microsecond, {name})"), 1),
        ],
    }
}

#[test]
#[ignore = "long"]
fn every_row_arrives_once_with_its_values() {
    with_place(async |place| {
        for (workload, scale, tables) in [
            (Workload::Tpch, SCALE, &["lineitem", "orders", "nation"][..]),
            (Workload::Tpcc, 1.0, &["district", "history"]),
        ] {
            create(place, workload).await;
            let name = workload.as_str();
            let changes = json!({"scale": scale, "tables": tables});
            loaded(plan(place, name, &changes)).unwrap();
            let data = Dataset::new(workload, scale, 7).unwrap();
            for table in tables {
                let schema = data.table(table).unwrap();
                let mut sums = SumSink::new(schema);
                for part in data.parts(table, 1).unwrap() {
                    data.write(&part, &mut sums, &Control::new()).unwrap();
                }
                let count = format!("select count(*) from {table}");
                let found = number(place, count.leak(), &[INT]).await;
                assert_eq!(u64::try_from(found).unwrap(), sums.rows(), "{table}");
                for (column, expected) in schema.columns.iter().zip(sums.sums()) {
                    let mut found = 0;
                    for (sql, kind, unit) in sums_of(column, table) {
                        let returns = vec![kind].leak();
                        let sum = number(place, sql.leak(), returns).await;
                        found += i128::from(sum) * i128::from(unit);
                    }
                    assert_eq!(found, *expected, "{table}.{}", column.name);
                }
            }
            drop_tables(place, workload).await;
        }
    });
}

pub async fn drop_tables(place: &Place, workload: Workload) {
    let mut loader = place.loader().await;
    for table in workload.tables() {
        loader.run(&format!("drop table {}", table.name)).await.unwrap();
    }
    loader.run("drop table journal").await.unwrap();
}

#[test]
fn an_interrupted_load_resumes_where_it_was() {
    with_place(async |place| {
        create(place, Workload::Tpcc).await;
        let all =
            json!({"scale": 1, "tables": ["item", "district"], "journal": {"table": "journal"}});
        loaded(plan(place, "tpcc", &all)).unwrap();
        let rows = number(place, "select count(*) from item", &[INT]).await;
        assert_eq!(rows, 100_000);
        let parts = number(place, "select count(*) from journal", &[INT]).await;
        assert!(parts > 2);
        let sum = "select cast(sum(part_rows) as bigint) from journal";
        assert_eq!(number(place, sum, &[Type::BigInt]).await, 100_010);
        // A part again is a duplicate key: nothing of it stays, and the error is the server's.
        let error = loaded(plan(place, "tpcc", &all)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Database, "{error}");
        assert_eq!(number(place, "select count(*) from item", &[INT]).await, 100_000);
        assert_eq!(number(place, "select count(*) from journal", &[INT]).await, parts);
        // What the journal has is left out.
        let done = json!({"scale": 1, "tables": ["district"], "streams": 1, "journal":
            {"table": "journal", "done": [{"table": "district", "part": 1, "parts": 1, "rows": 10}]}});
        assert_eq!(loaded(plan(place, "tpcc", &done)).unwrap().rows, 0);
    });
}

#[test]
fn a_missing_table_is_a_wrong_use() {
    with_place(async |place| {
        let error = loaded(plan(place, "tpch", &json!({"tables": ["region"]}))).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage, "{error}");
    });
}
