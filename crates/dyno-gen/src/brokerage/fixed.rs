//! Tables that are the same at every scale.

use dyno_record::Result;

use super::fees::{RANGES, TIERS, TYPES, charge, rate};
use super::market::EXCHANGES;
use super::pools::companies::{INDUSTRIES, SECTORS};
use crate::sink::RowSink;

/// A status that every completed trade and every active customer has.
pub(super) const COMPLETED: &str = "CMPT";
pub(super) const SUBMITTED: &str = "SBMT";
pub(super) const PENDING: &str = "PNDG";
pub(super) const ACTIVE: &str = "ACTV";

const STATUSES: [(&str, &str); 5] = [
    (ACTIVE, "Active"),
    (COMPLETED, "Completed"),
    ("CNCL", "Canceled"),
    (PENDING, "Pending"),
    (SUBMITTED, "Submitted"),
];

pub(super) const SECTOR_COUNT: u64 = SECTORS.len() as u64;
pub(super) const INDUSTRY_COUNT: u64 = INDUSTRIES.len() as u64;
pub(super) const CHARGES: u64 = TIERS as u64 * TYPES.len() as u64;

pub(super) fn status_types(sink: &mut impl RowSink) -> Result<u64> {
    for (id, name) in STATUSES {
        sink.begin_row();
        sink.text(id);
        sink.text(name);
        sink.end_row()?;
    }
    Ok(STATUSES.len() as u64)
}

pub(super) fn sectors(sink: &mut impl RowSink) -> Result<u64> {
    for (id, name) in SECTORS {
        sink.begin_row();
        sink.text(id);
        sink.text(name);
        sink.end_row()?;
    }
    Ok(SECTOR_COUNT)
}

/// The identifier of an industry: two letters.
pub(super) fn industry_id(industry: usize) -> [u8; 2] {
    [b'A' + (industry / 26) as u8, b'A' + (industry % 26) as u8]
}

/// The identifier as text.
pub(super) fn shown(id: &[u8; 2]) -> &str {
    std::str::from_utf8(id).expect("identifiers are ASCII")
}

pub(super) fn industries(sink: &mut impl RowSink) -> Result<u64> {
    for (index, (sector, name, _)) in INDUSTRIES.iter().enumerate() {
        sink.begin_row();
        sink.text(shown(&industry_id(index)));
        sink.text(name);
        sink.text(SECTORS[usize::from(*sector)].0);
        sink.end_row()?;
    }
    Ok(INDUSTRY_COUNT)
}

pub(super) fn trade_types(sink: &mut impl RowSink) -> Result<u64> {
    for kind in &TYPES {
        sink.begin_row();
        sink.text(kind.id);
        sink.text(kind.name);
        sink.int32(i32::from(kind.sells));
        sink.int32(i32::from(kind.market));
        sink.end_row()?;
    }
    Ok(TYPES.len() as u64)
}

pub(super) fn charges(sink: &mut impl RowSink) -> Result<u64> {
    for (index, kind) in TYPES.iter().enumerate() {
        for tier in 1..=TIERS {
            sink.begin_row();
            sink.text(kind.id);
            sink.int32(tier);
            sink.decimal(charge(index, tier), 2);
            sink.end_row()?;
        }
    }
    Ok(CHARGES)
}

pub(super) fn commission_rates(sink: &mut impl RowSink) -> Result<u64> {
    let mut rows = 0;
    for tier in 1..=TIERS {
        for (index, kind) in TYPES.iter().enumerate() {
            for (number, exchange) in (0..).zip(&EXCHANGES) {
                for (place, (least, most)) in RANGES.iter().enumerate() {
                    sink.begin_row();
                    sink.int32(tier);
                    sink.text(kind.id);
                    sink.text(exchange.id);
                    sink.int32(*least);
                    sink.int32(*most);
                    sink.decimal(rate(tier, index, number, place), 2);
                    sink.end_row()?;
                    rows += 1;
                }
            }
        }
    }
    Ok(rows)
}
