//! Trade-Result: the exchange has executed an order. Two round trips.
//!
//! The exchange's message has what the order had, so the first reads all that the second changes;
//! the lock on the account comes first and lets results of one account follow each other.

use dyno_record::{Error, ErrorKind, Result};

use super::estimate::holdings;
use super::exchange::Executed;
use super::fees::{commission_cents, settled_cents};
use super::holdings::Effect;
use super::statements::{
    COMMISSION, COMPLETE, DELETE_HOLDING, DELETE_SUMMARY, EARN, HELD_SHARES, HOLDINGS, INSERT_CASH,
    INSERT_HISTORY, INSERT_HOLDING, INSERT_HOLDING_HISTORY, INSERT_SETTLEMENT, INSERT_SUMMARY,
    LOCK_ACCOUNT, PAY, RESULT_OF, TAX_RATE, UPDATE_HOLDING, UPDATE_SUMMARY,
};
use crate::wire::{Access, Session, Value};
use crate::workloads::contract::TxnOutcome;

/// Microseconds of a day.
pub const DAY_US: i64 = 86_400_000_000;
/// Days from a trade to its payment.
pub const DUE_DAYS: i32 = 2;

/// Runs it once.
pub async fn run<S: Session>(
    session: &mut S,
    executed: &Executed,
    unix_us: i64,
) -> Result<TxnOutcome> {
    let Executed { order, cents } = executed;
    let (account, symbol) = (Value::BigInt(order.account), Value::Text(order.symbol.text()));
    let given =
        [symbol, Value::Int(order.tier), Value::Text(order.kind.id()), Value::Int(order.shares)];
    session.queue_begin(Access::Write);
    let locked = session.queue(LOCK_ACCOUNT, &[account]);
    let trade = session.queue(RESULT_OF, &[Value::BigInt(order.trade)]);
    let rate = session.queue(COMMISSION, &given);
    let tax_rate = session.queue(TAX_RATE, &[Value::BigInt(order.customer)]);
    let held = session.queue(HELD_SHARES, &[account, symbol]);
    let lots = session.queue(HOLDINGS, &[account, symbol]);
    session.flush().await?;

    if [locked, trade, rate].iter().any(|slot| session.rows(*slot) == 0) {
        let message = format!("trade {} is missing, or its account or commission", order.trade);
        return Err(Error::new(ErrorKind::Database, message));
    }
    let before = match session.rows(held) {
        0 => None,
        _ => Some(session.int(held, 0, 0)? as i32),
    };
    let sells = order.kind.sells();
    let effect = Effect::of(sells, order.lifo, order.shares, *cents, &holdings(session, lots)?);
    let tax_cents = match order.tax_status {
        1 | 2 => effect.tax_cents(session.decimal(tax_rate, 0, 0)?),
        _ => 0,
    };
    let sums = Sums {
        charge: session.decimal(trade, 0, 3)?,
        commission: commission_cents(order.shares, *cents, session.decimal(rate, 0, 0)?),
        tax: tax_cents,
    };
    let name = session.text(trade, 0, 10)?;
    let what = format!("{} {} shares of {name}", order.kind.name(), order.shares);

    let closed: i32 = effect.changes.iter().map(|change| change.left - change.holding.shares).sum();
    let after = before.unwrap_or(0) + closed + effect.opened;
    // Holdings refer to the account's number of shares: it comes before them, and goes after them.
    if after != 0 || before.is_none() {
        let statement = if before.is_none() { INSERT_SUMMARY } else { UPDATE_SUMMARY };
        session.queue(statement, &[Value::Int(after), account, symbol]);
    }
    queue_holdings(session, executed, &effect, unix_us);
    if after == 0 && before.is_some() {
        session.queue(DELETE_SUMMARY, &[account, symbol]);
    }
    queue_money(session, executed, sums, &what, unix_us);
    session.queue_commit();
    session.flush().await?;
    Ok(TxnOutcome::Committed)
}

/// Queues the changes of holdings with their history.
fn queue_holdings<S: Session>(session: &mut S, executed: &Executed, effect: &Effect, unix_us: i64) {
    let Executed { order, cents } = executed;
    let trade = Value::BigInt(order.trade);
    for change in &effect.changes {
        let holding = Value::BigInt(change.holding.trade);
        let (before, left) = (Value::Int(change.holding.shares), Value::Int(change.left));
        session.queue(INSERT_HOLDING_HISTORY, &[holding, trade, before, left]);
        if change.left == 0 {
            session.queue(DELETE_HOLDING, &[holding]);
        } else {
            session.queue(UPDATE_HOLDING, &[left, holding]);
        }
    }
    if effect.opened != 0 {
        let opened = Value::Int(effect.opened);
        session.queue(INSERT_HOLDING_HISTORY, &[trade, trade, Value::Int(0), opened]);
        let (account, symbol) = (Value::BigInt(order.account), Value::Text(order.symbol.text()));
        let now = Value::Timestamp(unix_us);
        session.queue(INSERT_HOLDING, &[trade, account, symbol, now, Value::cents(*cents), opened]);
    }
}

/// Amounts of a trade, hundredths.
#[derive(Clone, Copy)]
struct Sums {
    charge: i64,
    commission: i64,
    tax: i64,
}

/// Queues the end of the trade, the broker's commission and the payment. The broker comes last:
/// many accounts have the same one.
fn queue_money<S: Session>(
    session: &mut S,
    executed: &Executed,
    sums: Sums,
    what: &str,
    unix_us: i64,
) {
    let Executed { order, cents } = executed;
    let (now, trade) = (Value::Timestamp(unix_us), Value::BigInt(order.trade));
    let commission = Value::cents(sums.commission);
    let complete = [commission, Value::cents(sums.tax), now, Value::cents(*cents), trade];
    session.queue(COMPLETE, &complete);
    session.queue(INSERT_HISTORY, &[trade, now, Value::Text("CMPT")]);

    let withheld_cents = if order.tax_status == 1 { sums.tax } else { 0 };
    let value_cents = i64::from(order.shares) * cents;
    let fees_cents = sums.charge + sums.commission;
    let amount = settled_cents(order.kind.sells(), value_cents, fees_cents, withheld_cents);
    let amount = Value::cents(amount);
    let due = Value::Date((unix_us.div_euclid(DAY_US)) as i32 + DUE_DAYS);
    let way = Value::Text(if order.cash { "Cash Account" } else { "Margin" });
    session.queue(INSERT_SETTLEMENT, &[trade, way, due, amount]);
    if order.cash {
        session.queue(PAY, &[amount, Value::BigInt(order.account)]);
        session.queue(INSERT_CASH, &[trade, now, amount, Value::Text(what)]);
    }
    session.queue(EARN, &[commission, Value::BigInt(order.broker)]);
}
