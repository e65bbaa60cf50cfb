//! Rows of trades, and of what they leave behind.

use std::fmt::Write as _;

use dyno_record::Result;

use super::Brokerage;
use super::fees::TYPES;
use super::fixed::{COMPLETED, PENDING, SUBMITTED};
use super::securities::security_name;
use crate::sink::RowSink;

pub(super) fn trades(size: &Brokerage, desk: u64, sink: &mut impl RowSink) -> Result<u64> {
    let mut name = String::new();
    size.simulate(desk, |trade| {
        sink.begin_row();
        sink.int64(trade.id as i64);
        sink.timestamp(trade.completed);
        sink.text(COMPLETED);
        sink.text(TYPES[trade.kind].id);
        sink.int32(i32::from(trade.cash));
        sink.text(trade.position.symbol.as_str());
        sink.int32(trade.quantity);
        sink.decimal(i64::from(trade.bid), 2);
        sink.int64(trade.account.id as i64);
        name.clear();
        trade.executor.name(&mut name);
        sink.text(&name);
        sink.decimal(i64::from(trade.price), 2);
        sink.decimal(trade.charge, 2);
        sink.decimal(trade.commission, 2);
        sink.decimal(trade.tax, 2);
        sink.int32(i32::from(trade.last_first));
        sink.end_row()
    })?;
    Ok(size.trades_of_desk())
}

pub(super) fn histories(size: &Brokerage, desk: u64, sink: &mut impl RowSink) -> Result<u64> {
    let mut rows = 0;
    size.simulate(desk, |trade| {
        let pending = trade.pending.map(|at| (at, PENDING));
        let others = [(trade.submitted, SUBMITTED), (trade.completed, COMPLETED)];
        for (at, status) in pending.into_iter().chain(others) {
            sink.begin_row();
            sink.int64(trade.id as i64);
            sink.timestamp(at);
            sink.text(status);
            sink.end_row()?;
            rows += 1;
        }
        Ok(())
    })?;
    Ok(rows)
}

pub(super) fn settlements(size: &Brokerage, desk: u64, sink: &mut impl RowSink) -> Result<u64> {
    size.simulate(desk, |trade| {
        sink.begin_row();
        sink.int64(trade.id as i64);
        sink.text(if trade.cash { "Cash Account" } else { "Margin" });
        sink.date(trade.due);
        sink.decimal(trade.amount, 2);
        sink.end_row()
    })?;
    Ok(size.trades_of_desk())
}

pub(super) fn cash(size: &Brokerage, desk: u64, sink: &mut impl RowSink) -> Result<u64> {
    let (mut rows, mut text) = (0, String::new());
    size.simulate(desk, |trade| {
        if !trade.cash {
            return Ok(());
        }
        sink.begin_row();
        sink.int64(trade.id as i64);
        sink.timestamp(trade.completed);
        sink.decimal(trade.amount, 2);
        text.clear();
        write!(text, "{} {} shares of ", TYPES[trade.kind].name, trade.quantity)
            .expect("text takes all");
        security_name(size.seed, trade.position.security, &mut text);
        sink.text(&text);
        rows += 1;
        sink.end_row()
    })?;
    Ok(rows)
}

pub(super) fn holding_histories(
    size: &Brokerage,
    desk: u64,
    sink: &mut impl RowSink,
) -> Result<u64> {
    let mut rows = 0;
    size.simulate(desk, |trade| {
        for touch in trade.touched {
            sink.begin_row();
            sink.int64(touch.holding as i64);
            sink.int64(trade.id as i64);
            sink.int32(touch.before);
            sink.int32(touch.after);
            sink.end_row()?;
        }
        rows += trade.touched.len() as u64;
        Ok(())
    })?;
    Ok(rows)
}

/// Writes the holdings that are left, in the order of their trades.
pub(super) fn holdings(size: &Brokerage, desk: u64, sink: &mut impl RowSink) -> Result<u64> {
    let accounts = size.simulate(desk, |_| Ok(()))?;
    let mut left: Vec<_> = accounts
        .iter()
        .flat_map(|account| account.positions.iter().map(move |position| (account, position)))
        .flat_map(|(account, position)| {
            position.lots.iter().map(move |lot| (lot, account, position))
        })
        .collect();
    left.sort_unstable_by_key(|(lot, ..)| lot.trade);
    for (lot, account, position) in &left {
        sink.begin_row();
        sink.int64(lot.trade as i64);
        sink.int64(account.id as i64);
        sink.text(position.symbol.as_str());
        sink.timestamp(lot.at);
        sink.decimal(i64::from(lot.price), 2);
        sink.int32(lot.quantity);
        sink.end_row()?;
    }
    Ok(left.len() as u64)
}

pub(super) fn holding_summaries(
    size: &Brokerage,
    desk: u64,
    sink: &mut impl RowSink,
) -> Result<u64> {
    let mut rows = 0;
    for account in size.simulate(desk, |_| Ok(()))? {
        for position in account.positions.iter().filter(|position| !position.lots.is_empty()) {
            sink.begin_row();
            sink.int64(account.id as i64);
            sink.text(position.symbol.as_str());
            sink.int32(position.lots.iter().map(|lot| lot.quantity).sum());
            sink.end_row()?;
            rows += 1;
        }
    }
    Ok(rows)
}
