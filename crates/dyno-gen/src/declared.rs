//! Data of workloads that are declared at run time: tables of plain values, for workloads without a
//! generator of their own.

use std::sync::{Mutex, PoisonError};

use dyno_record::{Result, derive_seed};
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use crate::Workload;
use crate::row_count::RowCount;
use crate::schema::{Column, ColumnType, TableSchema};
use crate::sink::RowSink;
use crate::usage::usage;

/// Rows generated at once.
const UNIT: u64 = 1_000;
/// Maximum rows of a table at scale 1, and maximum scale.
const MOST_ROWS: u64 = 1_000_000_000;
const MOST_SCALE: f64 = 100_000.0;

/// The tables of a workload.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    name: String,
    tables: Vec<GivenTable>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenTable {
    name: String,
    /// Rows at scale 1.
    rows: u64,
    columns: Vec<GivenColumn>,
    #[serde(default)]
    primary_key: Vec<String>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenColumn {
    name: String,
    kind: ColumnType,
    value: Values,
}

/// The values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Values {
    /// The row number, from 1.
    Row,
    /// Integers in this range: units of a decimal's last digit, days of a date, microseconds of a
    /// timestamp.
    Between(i64, i64),
    /// Lower-case letters; minimum and maximum length.
    Letters(u16, u16),
}

/// A declared workload. It lives as long as the process.
#[derive(Debug, PartialEq, Eq)]
pub struct Declared {
    given: Given,
    tables: Vec<TableSchema>,
}

static DECLARED: Mutex<Vec<&'static Declared>> = Mutex::new(Vec::new());

/// Declares a workload:
/// `{"name", "tables": [{"name", "rows", "columns": [{"name", "kind", "value"}], "primary_key"}]}`,
/// with `rows` at scale 1. Repeating the same declaration is allowed.
///
/// # Errors
/// `usage` if the declaration is invalid or the name is taken.
pub fn declare(json: &str) -> Result<()> {
    let given: Given = serde_json::from_str(json)
        .map_err(|error| usage(format!("invalid declaration of a workload: {error}")))?;
    let mut known = DECLARED.lock().unwrap_or_else(PoisonError::into_inner);
    match known.iter().find(|one| one.given.name == given.name) {
        Some(same) if same.given == given => return Ok(()),
        None if !Workload::NAMES.contains(&given.name.as_str()) => {}
        _ => return Err(usage(format!("another workload has the name {:?}", given.name))),
    }
    check(&given)?;
    known.push(Box::leak(Box::new(Declared::new(given))));
    Ok(())
}

fn check(given: &Given) -> Result<()> {
    let wrong =
        |what: &str, why: &str| Err(usage(format!("workload {}: {what} {why}", given.name)));
    for table in &given.tables {
        if table.columns.is_empty() || !(1..=MOST_ROWS).contains(&table.rows) {
            return wrong(&table.name, &format!("needs columns, and 1 to {MOST_ROWS} rows"));
        }
        let known = |key: &String| table.columns.iter().any(|column| column.name == *key);
        if !table.primary_key.iter().all(known) {
            return wrong(&table.name, "has a key that is not one of its columns");
        }
        for column in &table.columns {
            let fits = match (column.value, column.kind) {
                (
                    Values::Letters(least, most),
                    ColumnType::Char { len: room } | ColumnType::Varchar { max: room },
                ) => least <= most && most <= room,
                (_, ColumnType::Char { .. } | ColumnType::Varchar { .. })
                | (Values::Letters(..), _) => false,
                (Values::Between(least, most), ColumnType::Int32 | ColumnType::Date) => {
                    least <= most && i32::try_from(least).is_ok() && i32::try_from(most).is_ok()
                }
                (Values::Between(least, most), _) => least <= most,
                (Values::Row, _) => true,
            };
            if !fits {
                return wrong(&column.name, "cannot hold its values");
            }
        }
    }
    Ok(())
}

fn leaked(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

impl Declared {
    fn new(given: Given) -> Self {
        let schema = |table: &GivenTable| {
            let columns = table.columns.iter().map(|it| Column::new(leaked(&it.name), it.kind));
            TableSchema {
                name: leaked(&table.name),
                columns: columns.collect::<Vec<_>>().leak(),
                primary_key: table
                    .primary_key
                    .iter()
                    .map(|key| leaked(key))
                    .collect::<Vec<_>>()
                    .leak(),
            }
        };
        Self { tables: given.tables.iter().map(schema).collect(), given }
    }

    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        let known = DECLARED.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().copied().find(|one| one.given.name == name)
    }

    pub(crate) fn name(&'static self) -> &'static str {
        &self.given.name
    }

    pub(crate) fn tables(&'static self) -> &'static [TableSchema] {
        &self.tables
    }

    fn table(&self, name: &str) -> &GivenTable {
        let found = self.given.tables.iter().find(|table| table.name == name);
        found.expect("tables come from the schema")
    }

    /// Approximate bytes of an average row as `tbl` text.
    pub(crate) fn row_bytes(&self, table: &str) -> f64 {
        let bytes = |column: &GivenColumn| match column.value {
            Values::Letters(least, most) => f64::from(least + most) / 2.0 + 1.0,
            _ => 8.0,
        };
        self.table(table).columns.iter().map(bytes).sum()
    }
}

/// The data of a declared workload at a scale.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeclaredRows {
    declared: &'static Declared,
    scale: f64,
    seed: u64,
}

impl DeclaredRows {
    pub(crate) fn new(declared: &'static Declared, scale: f64, seed: u64) -> Result<Self> {
        if !(scale > 0.0 && scale <= MOST_SCALE) {
            return Err(usage(format!(
                "the scale must be above 0 and at most {MOST_SCALE}, not {scale}"
            )));
        }
        let data = Self { declared, scale, seed };
        for table in &declared.given.tables {
            let rows = data.rows(&table.name);
            let wraps = |column: &&GivenColumn| {
                matches!(column.value, Values::Row)
                    && matches!(column.kind, ColumnType::Int32 | ColumnType::Date)
            };
            let found = table.columns.iter().find(wraps);
            if let (Some(column), true) = (found, rows > i32::MAX as u64) {
                return Err(usage(format!(
                    "at scale {scale}, {} has {rows} rows, more than the type of {} can number; \
                     use bigint",
                    table.name, column.name
                )));
            }
        }
        Ok(data)
    }

    pub(crate) fn row_count(&self, table: &str) -> RowCount {
        RowCount::exact(self.rows(table))
    }

    fn rows(&self, table: &str) -> u64 {
        ((self.declared.table(table).rows as f64 * self.scale).round() as u64).max(1)
    }

    pub(crate) fn units(&self, table: &str) -> u64 {
        self.rows(table).div_ceil(UNIT)
    }

    /// Writes the rows of a unit to `sink`; returns their number.
    pub(crate) fn write(&self, table: &str, unit: u64, sink: &mut impl RowSink) -> Result<u64> {
        let seed = derive_seed(self.seed, &self.declared.given.name, unit, table);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let rows = unit * UNIT + 1..=((unit + 1) * UNIT).min(self.rows(table));
        let (columns, mut text) = (&self.declared.table(table).columns, String::new());
        for row in rows.clone() {
            sink.begin_row();
            for column in columns {
                let number = match column.value {
                    Values::Row => row as i64,
                    Values::Between(least, most) => rng.random_range(least..=most),
                    Values::Letters(least, most) => {
                        text.clear();
                        for _ in 0..rng.random_range(least..=most) {
                            text.push(char::from(rng.random_range(b'a'..=b'z')));
                        }
                        0
                    }
                };
                match column.kind {
                    ColumnType::Int32 => sink.int32(number as i32),
                    ColumnType::Int64 => sink.int64(number),
                    ColumnType::Decimal { scale, .. } => sink.decimal(number, scale),
                    ColumnType::Date => sink.date(number as i32),
                    ColumnType::Timestamp => sink.timestamp(number),
                    ColumnType::Char { .. } | ColumnType::Varchar { .. } => sink.text(&text),
                }
            }
            sink.end_row()?;
        }
        Ok(rows.count() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dataset;
    use crate::sink::CountSink;
    use dyno_record::{Control, ErrorKind};
    use serde_json::{Value, json};

    fn given(name: &str, column: &Value) -> String {
        let columns = json!([
            {"name": "id", "kind": {"type": "int32"}, "value": "row"},
            column,
        ]);
        let table = json!({"name": "t", "rows": 1500, "columns": columns, "primary_key": ["id"]});
        json!({"name": name, "tables": [table]}).to_string()
    }

    fn money() -> Value {
        let kind = json!({"type": "decimal", "precision": 9, "scale": 2});
        json!({"name": "m", "kind": kind, "value": {"between": [-5, 700]}})
    }

    #[test]
    fn a_declared_workload_has_a_schema_and_rows() {
        declare(&given("shop", &money())).unwrap();
        declare(&given("shop", &money())).unwrap();
        let shop = Workload::parse("shop").unwrap();
        assert_eq!((shop.as_str(), shop.tables()[0].primary_key), ("shop", &["id"][..]));
        let data = Dataset::new(shop, 3.0, 1).unwrap();
        assert_eq!(data.row_count("t").unwrap(), RowCount::exact(4500));
        let all = data.parts("t", 2).unwrap();
        let count = |part| data.write(part, &mut CountSink::default(), &Control::new()).unwrap();
        assert_eq!(all.iter().map(count).sum::<u64>(), 4500);
        let sums = crate::sums(&data, "t", 1, &Control::new()).unwrap();
        assert_eq!(sums.sums()[0], (1..=4500).sum::<i128>());
        assert!((0..4500 * 700).contains(&sums.sums()[1]));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let text = |most: u16| {
            let kind = json!({"type": "varchar", "max": 5});
            json!({"name": "w", "kind": kind, "value": {"letters": [1, most]}})
        };
        declare(&given("fits", &text(5))).unwrap();
        let number = json!({"name": "w", "kind": {"type": "int32"}, "value": {"letters": [1, 2]}});
        for wrong in [
            given("long", &text(6)),
            given("letters", &number),
            given("fits", &text(4)),
            given("tpcc", &text(5)),
            "{}".to_owned(),
        ] {
            assert_eq!(declare(&wrong).unwrap_err().kind, ErrorKind::Usage, "{wrong}");
        }
        declare(&given("none", &money())).unwrap();
        let none = Workload::parse("none").unwrap();
        assert_eq!(Dataset::new(none, 0.0, 1).unwrap_err().kind, ErrorKind::Usage);
        // Row numbers that its `int` has, and one that it has not.
        declare(&given("many", &money()).replace("1500", "1000000")).unwrap();
        let many = Workload::parse("many").unwrap();
        assert!(Dataset::new(many, 2147.0, 1).is_ok());
        assert_eq!(Dataset::new(many, 2148.0, 1).unwrap_err().kind, ErrorKind::Usage);
    }
}
