//! The transactions that only read, each in one or two round trips.

use std::hint::black_box;

use dyno_record::Result;

use super::data::Data;
use super::inputs::{BrokerVolume, CustomerPosition, MarketWatch, SecurityDetail, Trades, Watched};
use super::past;
use super::statements::{
    ASSETS, BROKER_VOLUME, BROKERS, COMPETITORS, CUSTOMER, CUSTOMER_OF_TAX, DAYS, DETAIL,
    FINANCIALS, FIRST_TRADE, HEADLINES, HELD_THEN, HOLDINGS_OF_TRADE, INDUSTRY_THEN, NEWS, OWNER,
    PRICE, RECENT_HISTORY, STATUS_OF_TRADES, WATCHED,
};
use crate::wire::{Access, Session, Value};
use crate::workloads::contract::TxnOutcome;

/// Broker-Volume: value of some brokers' open limit orders in a sector.
pub async fn broker_volume<S: Session>(
    session: &mut S,
    input: &BrokerVolume,
    data: &Data,
) -> Result<TxnOutcome> {
    let names: Vec<String> = input.brokers.iter().map(|number| data.broker(*number)).collect();
    let mut given = [Value::Text(input.sector); BROKERS + 1];
    for (value, name) in given[1..].iter_mut().zip(&names) {
        *value = Value::Text(name);
    }
    session.queue_begin(Access::Read);
    session.queue(BROKER_VOLUME, &given);
    end(session).await
}

/// Customer-Position: a customer's accounts and their value; half of the time the last trades of
/// one of them.
pub async fn customer_position<S: Session>(
    session: &mut S,
    input: &CustomerPosition,
    data: &Data,
) -> Result<TxnOutcome> {
    let customer = Value::BigInt(input.customer);
    session.queue_begin(Access::Read);
    if input.by_tax {
        let tax = data.tax_number(input.customer);
        session.queue(CUSTOMER_OF_TAX, &[Value::Text(&tax)]);
    }
    session.queue(CUSTOMER, &[customer]);
    let assets = session.queue(ASSETS, &[customer]);
    let Some(place) = input.history else { return end(session).await };
    session.flush().await?;
    let accounts = session.rows(assets);
    if accounts > 0 {
        let account = session.int(assets, place % accounts, 0)?;
        session.queue(RECENT_HISTORY, &[Value::BigInt(account)]);
    }
    end(session).await
}

/// Market-Watch: the change of the value of some securities since a day.
pub async fn market_watch<S: Session>(session: &mut S, input: &MarketWatch) -> Result<TxnOutcome> {
    let day = Value::Date(input.day);
    session.queue_begin(Access::Read);
    let values = match input.watched {
        Watched::List(customer) => session.queue(WATCHED, &[Value::BigInt(customer), day]),
        Watched::Account(account) => session.queue(HELD_THEN, &[Value::BigInt(account), day]),
        Watched::Industry(name, first, last) => session.queue(
            INDUSTRY_THEN,
            &[Value::Text(name), day, Value::BigInt(first), Value::BigInt(last)],
        ),
    };
    session.queue_commit();
    session.flush().await?;
    let (then, now) = (session.decimal(values, 0, 0)?, session.decimal(values, 0, 1)?);
    // Displayed to the user, not stored.
    black_box((now - then) as f64 / then.max(1) as f64);
    Ok(TxnOutcome::Committed)
}

/// Security-Detail: all about a security.
pub async fn security_detail<S: Session>(
    session: &mut S,
    input: &SecurityDetail,
) -> Result<TxnOutcome> {
    let symbol = Value::Text(input.symbol.text());
    session.queue_begin(Access::Read);
    for statement in [DETAIL, COMPETITORS, FINANCIALS] {
        session.queue(statement, &[symbol]);
    }
    session.queue(DAYS, &[symbol, Value::Date(input.day)]);
    session.queue(PRICE, &[symbol]);
    session.queue(if input.news { NEWS } else { HEADLINES }, &[symbol]);
    end(session).await
}

/// Trade-Lookup: trades of the past with their settlements, payments and histories, or what became
/// of the holdings that a trade changed.
pub async fn trade_lookup<S: Session>(session: &mut S, input: &Trades) -> Result<TxnOutcome> {
    session.queue_begin(Access::Read);
    if let Trades::Holdings(account, time_us) = *input {
        let given = [Value::BigInt(account), Value::Timestamp(time_us)];
        let first = session.queue(FIRST_TRADE, &given);
        session.flush().await?;
        if session.rows(first) > 0 {
            let trade = session.int(first, 0, 0)?;
            session.queue(HOLDINGS_OF_TRADE, &[Value::BigInt(trade)]);
        }
    } else {
        let found = past::find(session, input).await?;
        found.queue_details(session);
    }
    end(session).await
}

/// Trade-Status: an account's last trades.
pub async fn trade_status<S: Session>(session: &mut S, account: i64) -> Result<TxnOutcome> {
    session.queue_begin(Access::Read);
    for statement in [STATUS_OF_TRADES, OWNER] {
        session.queue(statement, &[Value::BigInt(account)]);
    }
    end(session).await
}

async fn end<S: Session>(session: &mut S) -> Result<TxnOutcome> {
    session.queue_commit();
    session.flush().await?;
    Ok(TxnOutcome::Committed)
}
