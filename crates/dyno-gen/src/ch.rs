//! The tables that a mixed workload after CH-benCHmark adds to those of `tpcc`: regions, nations and
//! suppliers. They are the same at every scale and for every seed, so that they fit any `tpcc` data.
//!
//! Source of the tables, of the number of nations and suppliers, and of their keys: R. Cole et al.,
//! "The mixed workload CH-benCHmark", `DBTest` 2011. Names and texts are Dyno's.

mod nations;

use dyno_record::{Result, derive_seed};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::row_count::RowCount;
use crate::schema::{Column, TableSchema};
use crate::sink::RowSink;
use crate::tpcc::nurand::uniform;
use nations::{NATIONS, REGIONS};

/// Suppliers. A stock row belongs to supplier `s_w_id * s_i_id` modulo this.
const SUPPLIERS: i32 = 10_000;
/// Suppliers generated at once.
const UNIT: i32 = 1_000;
/// One supplier in this many has complaints.
const COMPLAINTS: i32 = 500;

/// Nations by key: the code of a character. A customer's nation is the first one of `c_state`.
pub(crate) const TABLES: &[TableSchema] = &[
    TableSchema {
        name: "region",
        columns: &[
            Column::int32("r_regionkey"),
            Column::varchar("r_name", 25),
            Column::prose("r_comment", 152),
        ],
        primary_key: &["r_regionkey"],
    },
    TableSchema {
        name: "nation",
        columns: &[
            Column::int32("n_nationkey"),
            Column::varchar("n_name", 25),
            Column::int32("n_regionkey"),
            Column::prose("n_comment", 152),
        ],
        primary_key: &["n_nationkey"],
    },
    TableSchema {
        name: "supplier",
        columns: &[
            Column::int32("su_suppkey"),
            Column::varchar("su_name", 25),
            Column::varchar("su_address", 40),
            Column::int32("su_nationkey"),
            Column::varchar("su_phone", 15),
            Column::decimal("su_acctbal", 12, 2),
            Column::prose("su_comment", 101),
        ],
        primary_key: &["su_suppkey"],
    },
];

const STREETS: [&str; 12] = [
    "Dock Road",
    "Canal Street",
    "Mill Lane",
    "Station Road",
    "Market Street",
    "Quarry Lane",
    "Foundry Street",
    "River Road",
    "Harbour Way",
    "Bridge Street",
    "Orchard Lane",
    "North Street",
];
const GOODS: [&str; 8] =
    ["pallets", "crates", "parcels", "returns", "samples", "spares", "rolls", "drums"];
const DEEDS: [&str; 6] = ["leave", "arrive", "are packed", "are counted", "are labelled", "wait"];
const TIMES: [&str; 8] =
    ["daily", "on Mondays", "before noon", "at night", "by rail", "by sea", "in time", "in autumn"];

fn rows(table: &str) -> u64 {
    match table {
        "region" => REGIONS.len() as u64,
        "nation" => NATIONS.len() as u64,
        _ => SUPPLIERS as u64,
    }
}

pub(crate) fn row_count(table: &str) -> RowCount {
    RowCount::exact(rows(table))
}

pub(crate) fn units(table: &str) -> u64 {
    if table == "supplier" { (SUPPLIERS / UNIT) as u64 } else { 1 }
}

/// Writes the rows of a unit to `sink`; returns their number.
pub(crate) fn write(table: &str, unit: u64, sink: &mut impl RowSink) -> Result<u64> {
    match table {
        "region" => regions(sink),
        "nation" => nations(sink),
        "supplier" => suppliers(unit, sink),
        _ => unreachable!("tables come from the schema"),
    }
}

/// Bytes of an average row as `tbl` text.
pub(crate) fn row_bytes(table: &str) -> f64 {
    match table {
        "region" => 35.0,
        "nation" => 36.8,
        _ => 91.6,
    }
}

fn regions(sink: &mut impl RowSink) -> Result<u64> {
    let mut words = Words::new("region", 0);
    for (key, name) in (0..).zip(REGIONS) {
        sink.begin_row();
        sink.int32(key);
        sink.text(name);
        sink.text(&words.sentence());
        sink.end_row()?;
    }
    Ok(REGIONS.len() as u64)
}

fn nations(sink: &mut impl RowSink) -> Result<u64> {
    let mut words = Words::new("nation", 0);
    for (key, name, region) in NATIONS {
        sink.begin_row();
        sink.int32(i32::from(key));
        sink.text(name);
        sink.int32(region);
        sink.text(&words.sentence());
        sink.end_row()?;
    }
    Ok(NATIONS.len() as u64)
}

fn suppliers(unit: u64, sink: &mut impl RowSink) -> Result<u64> {
    let mut words = Words::new("supplier", unit);
    let first = unit as i32 * UNIT;
    for key in first..first + UNIT {
        let nation = NATIONS[words.below(NATIONS.len())].0;
        sink.begin_row();
        sink.int32(key);
        sink.text(&format!("Supplier#{key:09}"));
        sink.text(&format!("{} {}", words.between(1, 200), words.one(&STREETS)));
        sink.int32(i32::from(nation));
        let (area, exchange, line) =
            (words.between(10, 99), words.between(100, 999), words.between(1_000, 9_999));
        sink.text(&format!("{nation:02}-{area}-{exchange}-{line}"));
        sink.decimal(i64::from(words.between(-99_999, 999_999)), 2);
        let note = if key % COMPLAINTS == 7 { "; complaints are open" } else { "" };
        sink.text(&format!("{}{note}", words.sentence()));
        sink.end_row()?;
    }
    Ok(UNIT as u64)
}

/// Draws of one unit of a table.
struct Words(Xoshiro256PlusPlus);

impl Words {
    fn new(table: &str, unit: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(derive_seed(0, "ch", unit, table)))
    }

    fn between(&mut self, low: i32, high: i32) -> i32 {
        uniform(&mut self.0, low, high)
    }

    fn below(&mut self, count: usize) -> usize {
        self.between(0, count as i32 - 1) as usize
    }

    fn one(&mut self, from: &[&'static str]) -> &'static str {
        from[self.below(from.len())]
    }

    fn sentence(&mut self) -> String {
        format!("{} {} {}", self.one(&GOODS), self.one(&DEEDS), self.one(&TIMES))
    }
}
