//! Market-Feed: records prices and submits the limit orders that they trigger, in two round trips.

use dyno_record::{Result, monotonic_ns};

use super::exchange::Tick;
use super::statements::{FORGET_REQUEST, INSERT_HISTORY, RECORD_PRICE, SUBMIT, TRIGGERED};
use crate::wire::{Access, Session, Slot, Value};

/// Runs it once; returns the trades that it submitted.
pub async fn run<S: Session>(session: &mut S, ticks: &[Tick], unix_us: i64) -> Result<Vec<i64>> {
    let (now, begun_ns) = (Value::Timestamp(unix_us), monotonic_ns());
    session.queue_begin(Access::Write);
    let mut asked: Vec<Slot> = Vec::with_capacity(ticks.len());
    for Tick { symbol, cents, shares } in ticks {
        let (symbol, price) = (Value::Text(symbol.text()), Value::cents(*cents));
        session.queue(RECORD_PRICE, &[price, Value::Int(*shares), now, symbol]);
        asked.push(session.queue(TRIGGERED, &[symbol, price]));
    }
    session.flush().await?;
    let mut trades = Vec::new();
    for slot in asked {
        for row in 0..session.rows(slot) {
            trades.push(session.int(slot, row, 0)?);
        }
    }
    // An order found here may have begun after this feed, which may have waited for its commit.
    let found_us = unix_us + ((monotonic_ns() - begun_ns) / 1_000) as i64;
    let now = Value::Timestamp(found_us);
    for trade in &trades {
        let trade = Value::BigInt(*trade);
        session.queue(SUBMIT, &[now, trade]);
        session.queue(FORGET_REQUEST, &[trade]);
        session.queue(INSERT_HISTORY, &[trade, now, Value::Text("SBMT")]);
    }
    session.queue_commit();
    session.flush().await?;
    Ok(trades)
}
