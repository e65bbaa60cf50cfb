//! A workload at a scale: its tables, their row counts, and how they split into parts.

use std::ops::Range;

use dyno_record::{Control, Error, Result};
use serde::{Deserialize, Serialize};

use crate::brokerage::Brokerage;
use crate::ch;
use crate::declared::{Declared, DeclaredRows};
use crate::row_count::RowCount;
use crate::schema::TableSchema;
use crate::sink::RowSink;
use crate::tpcc::Tpcc;
use crate::tpch::{Refresh, RefreshKeys, RefreshOrders, Tpch};
use crate::usage::usage;

/// A workload whose data Dyno generates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum Workload {
    /// Derived from TPC-H; its scale is the scale factor.
    Tpch,
    /// Derived from TPC-C; its scale is the number of warehouses.
    Tpcc,
    /// Derived from TPC-E; its scale is thousands of customers.
    Brokerage,
    /// Tables that analytical queries need next to those of `tpcc`; its scale is that of `tpcc`.
    Ch,
    /// A declared workload; see [`declare`](crate::declare).
    Declared(&'static Declared),
}

impl TryFrom<String> for Workload {
    type Error = Error;

    fn try_from(name: String) -> Result<Self> {
        Self::parse(&name)
    }
}

impl From<Workload> for &'static str {
    fn from(workload: Workload) -> Self {
        workload.as_str()
    }
}

impl Workload {
    /// All compiled-in workloads.
    pub const ALL: [Self; 4] = [Self::Tpch, Self::Tpcc, Self::Brokerage, Self::Ch];

    /// The names of [`ALL`](Self::ALL).
    pub const NAMES: [&'static str; 4] = ["tpch", "tpcc", "brokerage", "ch"];

    /// The workload called `name`.
    ///
    /// # Errors
    /// `usage` if there is none.
    pub fn parse(name: &str) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|workload| workload.as_str() == name);
        known.or_else(|| Declared::named(name).map(Self::Declared)).ok_or_else(|| {
            let known = Self::NAMES.join(", ");
            usage(format!("no generator for {name:?}; choose one of: {known}"))
        })
    }

    /// The workload's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tpch => "tpch",
            Self::Tpcc => "tpcc",
            Self::Brokerage => "brokerage",
            Self::Ch => "ch",
            Self::Declared(declared) => declared.name(),
        }
    }

    /// The tables, in the best order to load them.
    pub fn tables(self) -> &'static [TableSchema] {
        match self {
            Self::Tpch => crate::tpch::TABLES,
            Self::Tpcc => crate::tpcc::TABLES,
            Self::Brokerage => crate::brokerage::TABLES,
            Self::Ch => crate::ch::TABLES,
            Self::Declared(declared) => declared.tables(),
        }
    }

    /// The workload next to whose tables these belong, in the same database; itself for most.
    #[must_use]
    pub fn home(self) -> Self {
        if self == Self::Ch { Self::Tpcc } else { self }
    }

    /// Prepares what all datasets of the workload share, unless that is done. The first row waits
    /// for it otherwise.
    pub fn prepare(self) {
        match self {
            Self::Tpch => crate::tpch::prepare(),
            Self::Tpcc | Self::Brokerage | Self::Ch | Self::Declared(_) => (),
        }
    }
}

/// One of several disjoint parts of a table, which can be generated on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The table.
    pub table: &'static TableSchema,
    /// Index of the part, from 0.
    pub index: u64,
    /// Number of parts, at least 1.
    pub of: u64,
}

impl Part {
    /// The part's range of `units` equal units of work.
    fn share(&self, units: u64) -> Range<u64> {
        let cut = |index: u64| (u128::from(units) * u128::from(index) / u128::from(self.of)) as u64;
        cut(self.index)..cut(self.index + 1)
    }
}

/// The data of a workload at a scale, or of a refresh function.
#[derive(Debug, Clone)]
pub struct Dataset {
    workload: Workload,
    rows: Rows,
}

#[derive(Debug, Clone)]
enum Rows {
    Tpch(Tpch),
    Tpcc(Tpcc),
    Brokerage(Brokerage),
    Ch,
    Declared(DeclaredRows),
    Refresh(Refresh),
}

impl Dataset {
    /// The data of `workload` at `scale`: for `tpch` the scale factor (0.001 to 10,000), for `tpcc`
    /// the number of warehouses (an integer), for `brokerage` thousands of customers (0.1 to 10,000). The data of `tpch` and `ch` is the same for every `seed`.
    ///
    /// # Errors
    /// `usage` if the scale is not valid for the workload.
    pub fn new(workload: Workload, scale: f64, seed: u64) -> Result<Self> {
        let rows = match workload {
            Workload::Tpch => Rows::Tpch(Tpch::new(scale)?),
            Workload::Tpcc => Rows::Tpcc(Tpcc::new(scale, seed)?),
            Workload::Brokerage => Rows::Brokerage(Brokerage::new(scale, seed)?),
            Workload::Ch => Tpcc::new(scale, seed).map(|_| Rows::Ch)?,
            Workload::Declared(declared) => {
                Rows::Declared(DeclaredRows::new(declared, scale, seed)?)
            }
        };
        Ok(Self { workload, rows })
    }

    /// The same data with this number of initial trading days; without one, the usual number.
    ///
    /// # Errors
    /// `usage` if the number is not valid, or the workload's data has no such days.
    pub fn with_days(mut self, days: Option<u32>) -> Result<Self> {
        match (&mut self.rows, days) {
            (_, None) => {}
            (Rows::Brokerage(rows), Some(days)) => *rows = rows.with_days(days)?,
            (_, Some(_)) => {
                let workload = self.workload.as_str();
                return Err(usage(format!("the data of {workload} has no initial trading days")));
            }
        }
        Ok(self)
    }

    /// The rows that update set `set` (from 0) of the refresh functions inserts into `tpch` data at
    /// `scale`, or deletes from it: orders and their lines. The other tables are empty.
    ///
    /// # Errors
    /// `usage` if the scale is not valid.
    pub fn refresh(scale: f64, set: u64, which: RefreshOrders) -> Result<Self> {
        let rows = Rows::Refresh(Tpch::new(scale)?.refresh(set, which));
        Ok(Self { workload: Workload::Tpch, rows })
    }

    /// The order keys, if this is the data of a refresh function.
    pub fn refresh_keys(&self) -> Option<RefreshKeys> {
        match &self.rows {
            Rows::Refresh(rows) => Some(rows.keys()),
            _ => None,
        }
    }

    /// The tables, in the best order to load them.
    pub fn tables(&self) -> &'static [TableSchema] {
        self.workload.tables()
    }

    /// The table called `name`.
    ///
    /// # Errors
    /// `usage` if the workload has none.
    pub fn table(&self, name: &str) -> Result<&'static TableSchema> {
        self.tables().iter().find(|table| table.name == name).ok_or_else(|| {
            let known: Vec<_> = self.tables().iter().map(|table| table.name).collect();
            let workload = self.workload.as_str();
            usage(format!("{workload} has no table {name:?}; choose one of: {}", known.join(", ")))
        })
    }

    /// Row count of a table. Estimated if an exact count takes long.
    ///
    /// # Errors
    /// `usage` for an unknown table.
    pub fn row_count(&self, table: &str) -> Result<RowCount> {
        let table = self.table(table)?;
        Ok(match &self.rows {
            Rows::Tpch(rows) => rows.row_count(table.name),
            Rows::Tpcc(rows) => rows.row_count(table.name),
            Rows::Brokerage(rows) => rows.row_count(table.name),
            Rows::Ch => ch::row_count(table.name),
            Rows::Declared(rows) => rows.row_count(table.name),
            Rows::Refresh(rows) => rows.row_count(table.name),
        })
    }

    /// The size of a table as `tbl` text in bytes, to within a few per cent. This is the usual
    /// measure of raw data: about 1 GB for `tpch` at scale 1.
    ///
    /// # Errors
    /// `usage` for an unknown table.
    pub fn expected_bytes(&self, table: &str) -> Result<u64> {
        let table = self.table(table)?;
        let row = match self.workload {
            Workload::Tpch => crate::tpch::row_bytes(table.name),
            Workload::Tpcc => crate::tpcc::row_bytes(table.name),
            Workload::Brokerage => crate::brokerage::row_bytes(table.name),
            Workload::Ch => crate::ch::row_bytes(table.name),
            Workload::Declared(declared) => declared.row_bytes(table.name),
        };
        Ok((self.expected_rows(table) as f64 * row) as u64)
    }

    /// Row count of a table, estimated if counting takes long.
    fn expected_rows(&self, table: &TableSchema) -> u64 {
        match &self.rows {
            Rows::Tpch(rows) => rows.expected_rows(table.name),
            Rows::Tpcc(rows) => rows.expected_rows(table.name),
            Rows::Brokerage(rows) => rows.expected_rows(table.name),
            Rows::Ch => ch::row_count(table.name).count,
            Rows::Declared(rows) => rows.row_count(table.name).count,
            Rows::Refresh(rows) => rows.row_count(table.name).count,
        }
    }

    /// Splits a table into at most `wanted` parts of nearly equal size; none is empty.
    ///
    /// # Errors
    /// `usage` for an unknown table.
    pub fn parts(&self, table: &str, wanted: u64) -> Result<Vec<Part>> {
        let table = self.table(table)?;
        let of = wanted.clamp(1, self.units(table));
        Ok((0..of).map(|index| Part { table, index, of }).collect())
    }

    /// Part `index` (from 0) of `of` parts of a table. Parts of a small table may be empty.
    ///
    /// # Errors
    /// `usage` for an unknown table or part.
    pub fn part(&self, table: &str, index: u64, of: u64) -> Result<Part> {
        let table = self.table(table)?;
        if index >= of {
            return Err(usage(format!("part {} does not exist: there are {of}", index + 1)));
        }
        Ok(Part { table, index, of })
    }

    /// Writes the rows of `part` to `sink` and counts rows and the sink's bytes on `control`;
    /// returns the number of rows. Does not finish the sink, which can take further parts.
    ///
    /// # Errors
    /// Those of the sink, and `cancelled`.
    pub fn write(&self, part: &Part, sink: &mut impl RowSink, control: &Control) -> Result<u64> {
        self.write_units(part.table, self.units_of(part), sink, control)
    }

    /// The units of a part.
    pub(crate) fn units_of(&self, part: &Part) -> Range<u64> {
        part.share(self.units(part.table))
    }

    /// The number of units with about `rows` rows, at least one.
    pub(crate) fn units_for(&self, table: &TableSchema, rows: u64) -> u64 {
        let units = u128::from(rows) * u128::from(self.units(table));
        (units / u128::from(self.expected_rows(table).max(1))).max(1) as u64
    }

    /// Like [`write`](Self::write), for a range of the table's units.
    pub(crate) fn write_units(
        &self,
        table: &TableSchema,
        units: Range<u64>,
        sink: &mut impl RowSink,
        control: &Control,
    ) -> Result<u64> {
        let mut total = 0;
        for unit in units {
            control.check()?;
            let before = sink.bytes();
            let rows = match &self.rows {
                Rows::Tpch(rows) => rows.write(table.name, unit, sink)?,
                Rows::Tpcc(rows) => rows.write(table.name, unit, sink)?,
                Rows::Brokerage(rows) => rows.write(table.name, unit, sink)?,
                Rows::Ch => ch::write(table.name, unit, sink)?,
                Rows::Declared(rows) => rows.write(table.name, unit, sink)?,
                Rows::Refresh(rows) => rows.write(table.name, sink)?,
            };
            control.add(rows, sink.bytes() - before);
            total += rows;
        }
        Ok(total)
    }

    /// The number of units of a table. A unit, a few thousand rows, is the smallest part that can
    /// be generated on its own.
    fn units(&self, table: &TableSchema) -> u64 {
        match &self.rows {
            Rows::Tpch(rows) => rows.units(table.name),
            Rows::Tpcc(rows) => rows.units(table.name),
            Rows::Brokerage(rows) => rows.units(table.name),
            Rows::Ch => ch::units(table.name),
            Rows::Declared(rows) => rows.units(table.name),
            Rows::Refresh(_) => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_record::ErrorKind;

    #[test]
    fn names_match_the_workloads() {
        assert_eq!(Workload::ALL.map(Workload::as_str), Workload::NAMES);
        for workload in Workload::ALL {
            assert_eq!(serde_json::to_value(workload).unwrap(), workload.as_str());
        }
        assert_eq!(Workload::parse("tpcx").unwrap_err().kind, ErrorKind::Usage);
    }

    #[test]
    fn impossible_scales_are_refused() {
        for scale in [0.0, -1.0, 0.000_9, 10_001.0, f64::NAN, f64::INFINITY] {
            let error = Dataset::new(Workload::Tpch, scale, 1).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Usage, "{scale}");
        }
        for scale in [0.0, -1.0, 1.5, 1e10, f64::NAN, f64::INFINITY] {
            let error = Dataset::new(Workload::Tpcc, scale, 1).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Usage, "{scale}");
            assert!(error.message.starts_with("warehouses must be a whole number"), "{error}");
        }
    }

    #[test]
    fn parts_cover_every_unit_once() {
        let data = Dataset::new(Workload::Tpcc, 3.0, 1).unwrap();
        for wanted in [1, 2, 7, 1_000] {
            let mut next = 0;
            for part in data.parts("stock", wanted).unwrap() {
                let share = part.share(30);
                assert_eq!(share.start, next);
                assert!(!share.is_empty());
                next = share.end;
            }
            assert_eq!(next, 30);
        }
        assert_eq!(data.part("stock", 4, 4).unwrap_err().kind, ErrorKind::Usage);
    }
}
