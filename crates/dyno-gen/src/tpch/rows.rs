//! The rows of each table: values from the `tpchgen` crate, comments from the
//! [`pool`](super::pool).

use std::fmt::{Display, Write as _};
use std::sync::OnceLock;

use dyno_record::Result;
use tpchgen::dates::TPCHDate;
use tpchgen::distribution::Distributions;
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};
use tpchgen::text::TextPool;

use super::comments::{self, Comments, Kind};
use crate::sink::RowSink;

/// Unit `index` (from 0) of `of` equal ranges of the generator's steps. The last unit also has the
/// remainder.
#[derive(Debug)]
pub(super) struct Unit {
    pub(super) scale: f64,
    pub(super) index: i32,
    pub(super) of: i32,
    pub(super) steps: i64,
}

impl Unit {
    /// The unit's number in `tpchgen`, from 1.
    fn number(&self) -> i32 {
        self.index + 1
    }

    fn comments(&self, kind: Kind) -> Comments {
        Comments::new(kind, self.steps / i64::from(self.of) * i64::from(self.index))
    }
}

/// A text just large enough for `tpchgen` to cut comments from. The comments are discarded; only
/// their draws matter.
fn placeholder() -> &'static TextPool {
    static POOL: OnceLock<TextPool> = OnceLock::new();
    POOL.get_or_init(|| TextPool::new(1024, Distributions::static_default()))
}

fn distributions() -> &'static Distributions {
    Distributions::static_default()
}

/// Writes a composed value as text, using `scratch`.
fn composed(sink: &mut impl RowSink, scratch: &mut String, value: impl Display) {
    scratch.clear();
    let _ = write!(scratch, "{value}"); // a string cannot fail
    sink.text(scratch);
}

fn date(sink: &mut impl RowSink, date: TPCHDate) {
    sink.date(date.to_unix_epoch());
}

pub(super) fn part(unit: &Unit, sink: &mut impl RowSink) -> Result<u64> {
    let mut comments = unit.comments(comments::PART);
    let mut scratch = String::new();
    let mut rows = 0;
    for row in PartGenerator::new_with_distributions_and_text_pool(
        unit.scale,
        unit.number(),
        unit.of,
        distributions(),
        placeholder(),
    ) {
        sink.begin_row();
        sink.int32(row.p_partkey as i32);
        composed(sink, &mut scratch, &row.p_name);
        composed(sink, &mut scratch, row.p_mfgr);
        composed(sink, &mut scratch, row.p_brand);
        sink.text(row.p_type);
        sink.int32(row.p_size);
        sink.text(row.p_container);
        sink.decimal(row.p_retailprice.0, 2);
        sink.text(comments.next());
        sink.end_row()?;
        rows += 1;
    }
    Ok(rows)
}

pub(super) fn supplier(unit: &Unit, sink: &mut impl RowSink) -> Result<u64> {
    let mut comments = unit.comments(comments::SUPPLIER);
    let mut scratch = String::new();
    let mut rows = 0;
    for row in SupplierGenerator::new_with_distributions_and_text_pool(
        unit.scale,
        unit.number(),
        unit.of,
        distributions(),
        placeholder(),
    ) {
        sink.begin_row();
        sink.int32(row.s_suppkey as i32);
        composed(sink, &mut scratch, row.s_name);
        composed(sink, &mut scratch, row.s_address);
        sink.int32(row.s_nationkey as i32);
        composed(sink, &mut scratch, row.s_phone);
        sink.decimal(row.s_acctbal.0, 2);
        scratch.clear();
        scratch.push_str(comments.next());
        copy_remark(&row.s_comment, &mut scratch);
        sink.text(&scratch);
        sink.end_row()?;
        rows += 1;
    }
    Ok(rows)
}

/// In some suppliers' comments, `tpchgen` overwrites a part with "Customer" and, further on,
/// "Complaints" or "Recommends". Copies these bytes from the placeholder comment, where they stand
/// out: the grammar has no capital letters.
fn copy_remark(from: &str, to: &mut String) {
    for remark in [
        SupplierGenerator::BBB_BASE_TEXT,
        SupplierGenerator::BBB_COMPLAINT_TEXT,
        SupplierGenerator::BBB_RECOMMEND_TEXT,
    ] {
        if let Some(at) = from.find(remark) {
            to.replace_range(at..at + remark.len(), remark);
        }
    }
}

pub(super) fn partsupp(unit: &Unit, sink: &mut impl RowSink) -> Result<u64> {
    let mut comments = unit.comments(comments::PARTSUPP);
    let mut rows = 0;
    for row in
        PartSuppGenerator::new_with_text_pool(unit.scale, unit.number(), unit.of, placeholder())
    {
        sink.begin_row();
        sink.int32(row.ps_partkey as i32);
        sink.int32(row.ps_suppkey as i32);
        sink.int32(row.ps_availqty);
        sink.decimal(row.ps_supplycost.0, 2);
        sink.text(comments.next());
        sink.end_row()?;
        rows += 1;
    }
    Ok(rows)
}

pub(super) fn customer(unit: &Unit, sink: &mut impl RowSink) -> Result<u64> {
    let mut comments = unit.comments(comments::CUSTOMER);
    let mut scratch = String::new();
    let mut rows = 0;
    for row in CustomerGenerator::new_with_distributions_and_text_pool(
        unit.scale,
        unit.number(),
        unit.of,
        distributions(),
        placeholder(),
    ) {
        sink.begin_row();
        sink.int32(row.c_custkey as i32);
        composed(sink, &mut scratch, row.c_name);
        composed(sink, &mut scratch, row.c_address);
        sink.int32(row.c_nationkey as i32);
        composed(sink, &mut scratch, row.c_phone);
        sink.decimal(row.c_acctbal.0, 2);
        sink.text(row.c_mktsegment);
        sink.text(comments.next());
        sink.end_row()?;
        rows += 1;
    }
    Ok(rows)
}

pub(super) fn orders(unit: &Unit, sink: &mut impl RowSink) -> Result<u64> {
    let mut comments = unit.comments(comments::ORDERS);
    let mut scratch = String::new();
    let mut rows = 0;
    for row in OrderGenerator::new_with_distributions_and_text_pool(
        unit.scale,
        unit.number(),
        unit.of,
        distributions(),
        placeholder(),
    ) {
        sink.begin_row();
        sink.int64(row.o_orderkey);
        sink.int32(row.o_custkey as i32);
        sink.text(row.o_orderstatus.as_str());
        sink.decimal(row.o_totalprice.0, 2);
        date(sink, row.o_orderdate);
        sink.text(row.o_orderpriority);
        composed(sink, &mut scratch, row.o_clerk);
        sink.int32(row.o_shippriority);
        sink.text(comments.next());
        sink.end_row()?;
        rows += 1;
    }
    Ok(rows)
}

pub(super) fn lineitem(unit: &Unit, sink: &mut impl RowSink) -> Result<u64> {
    let mut comments = unit.comments(comments::LINEITEM);
    let mut rows = 0;
    for row in LineItemGenerator::new_with_distributions_and_text_pool(
        unit.scale,
        unit.number(),
        unit.of,
        distributions(),
        placeholder(),
    ) {
        sink.begin_row();
        sink.int64(row.l_orderkey);
        sink.int32(row.l_partkey as i32);
        sink.int32(row.l_suppkey as i32);
        sink.int32(row.l_linenumber);
        sink.decimal(row.l_quantity, 0);
        sink.decimal(row.l_extendedprice.0, 2);
        sink.decimal(row.l_discount.0, 2);
        sink.decimal(row.l_tax.0, 2);
        sink.text(row.l_returnflag);
        sink.text(row.l_linestatus);
        date(sink, row.l_shipdate);
        date(sink, row.l_commitdate);
        date(sink, row.l_receiptdate);
        sink.text(row.l_shipinstruct);
        sink.text(row.l_shipmode);
        sink.text(comments.next());
        sink.end_row()?;
        rows += 1;
    }
    Ok(rows)
}

pub(super) fn nation(sink: &mut impl RowSink) -> Result<u64> {
    let mut comments = Comments::new(comments::NATION, 0);
    let mut rows = 0;
    for row in
        NationGenerator::new_with_distributions_and_text_pool(distributions(), placeholder()).iter()
    {
        sink.begin_row();
        sink.int32(row.n_nationkey as i32);
        sink.text(row.n_name);
        sink.int32(row.n_regionkey as i32);
        sink.text(comments.next());
        sink.end_row()?;
        rows += 1;
    }
    Ok(rows)
}

pub(super) fn region(sink: &mut impl RowSink) -> Result<u64> {
    let mut comments = Comments::new(comments::REGION, 0);
    let mut rows = 0;
    for row in
        RegionGenerator::new_with_distributions_and_text_pool(distributions(), placeholder()).iter()
    {
        sink.begin_row();
        sink.int32(row.r_regionkey as i32);
        sink.text(row.r_name);
        sink.text(comments.next());
        sink.end_row()?;
        rows += 1;
    }
    Ok(rows)
}

/// Counts the lines of the first `orders` orders.
pub(super) fn count_lines(orders: u64) -> u64 {
    // Each stream waits for its own previous draw, so several interleaved ones take no longer than
    // one.
    const LANES: usize = 4;
    let share = orders / LANES as u64;
    let mut lanes = [OrderGenerator::create_line_count_random(); LANES];
    for (lane, stream) in lanes.iter_mut().enumerate() {
        stream.advance_rows((lane as u64 * share) as i64);
    }
    let mut total = 0;
    for _ in 0..share {
        total += lanes.iter_mut().map(|stream| stream.next_value() as u64).sum::<u64>();
    }
    // The last lane also counts the remainder of the division.
    total
        + (share * LANES as u64..orders).map(|_| lanes[LANES - 1].next_value() as u64).sum::<u64>()
}

/// Counts the lines of `orders` orders after the first `before`.
pub(super) fn lines_between(before: u64, orders: u64) -> u64 {
    let mut lines = OrderGenerator::create_line_count_random();
    lines.advance_rows(before as i64);
    (0..orders).map(|_| lines.next_value() as u64).sum()
}
