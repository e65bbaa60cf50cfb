//! Trade-Order: a customer, a broker or somebody with a power of attorney orders a trade. Three
//! round trips, four if the security is found by its company.

use dyno_record::Result;

use super::data::Data;
use super::estimate::{self, Fees, missing};
use super::exchange::Exchange;
use super::inputs::TradeOrder;
use super::order::{Order, Symbol};
use super::statements::{
    ACCOUNT, HELD, INSERT_HISTORY, INSERT_REQUEST, INSERT_TRADE, KIND, PERMISSIONS,
    SECURITY_OF_COMPANY,
};
use crate::wire::{Access, Session, Slot, Value};

/// Runs it once as trade number `trade`; returns the order, or none if it was withdrawn.
pub async fn run<S: Session>(
    session: &mut S,
    input: &TradeOrder,
    (data, exchange): (&Data, &Exchange),
    trade: i64,
    (unix_us, now_ns): (i64, u64),
) -> Result<Option<Order>> {
    session.queue_begin(Access::Write);
    let asked = Asked {
        account: session.queue(ACCOUNT, &[Value::BigInt(input.account)]),
        permissions: session.queue(PERMISSIONS, &[Value::BigInt(input.account)]),
        held: session.queue(HELD, &[Value::BigInt(input.account)]),
    };
    session.queue(KIND, &[Value::Text(input.kind.id())]);
    session.flush().await?;
    let party = asked.read(session, input)?;

    let mut symbol = input.security;
    if let Some((company, issue)) = input.company {
        let company = data.company(company);
        let given = [Value::Text(&company), Value::Text(issue)];
        let found = session.queue(SECURITY_OF_COMPANY, &given);
        session.flush().await?;
        if session.rows(found) == 0 {
            return Err(missing("security of company", &company));
        }
        symbol = Symbol::new(session.text(found, 0, 0)?);
    }
    let mut order = Order {
        trade,
        account: input.account,
        customer: party.customer,
        broker: party.broker,
        tier: party.tier,
        kind: input.kind,
        symbol,
        shares: input.shares,
        bid_cents: 0,
        reached_ns: now_ns + input.wait_ns,
        lifo: input.lifo,
        cash: input.cash,
        tax_status: party.tax_status,
    };
    let asked = estimate::ask(session, &order).await?;
    order.bid_cents = exchange.price(symbol, asked.open_cents, order.reached_ns);
    let fees = asked.fees(&order, party.assets_cents);
    record(session, &order, &party.executor, fees, unix_us);
    if input.rolls_back {
        session.queue_rollback();
    } else {
        session.queue_commit();
    }
    session.flush().await?;
    Ok((!input.rolls_back).then_some(order))
}

/// Where the answers about an account will be.
struct Asked {
    account: Slot,
    permissions: Slot,
    held: Slot,
}

/// Who trades, and with what.
struct Party {
    customer: i64,
    broker: i64,
    tier: i32,
    tax_status: i32,
    /// First and last name of who orders.
    executor: String,
    /// Cash and value of all securities of the account.
    assets_cents: i64,
}

impl Asked {
    fn read<S: Session>(&self, session: &S, input: &TradeOrder) -> Result<Party> {
        let Self { account, permissions, held } = *self;
        if session.rows(account) == 0 {
            return Err(missing("account", &input.account.to_string()));
        }
        let name = |slot, row, column| -> Result<String> {
            let first = session.text(slot, row, column)?;
            Ok(format!("{first} {}", session.text(slot, row, column + 1)?))
        };
        let owner = session.text(account, 0, 9)?;
        let mut others = Vec::new();
        for row in 0..session.rows(permissions) {
            if session.text(permissions, row, 3)? != owner {
                others.push(row);
            }
        }
        let executor = match input.other {
            Some(place) if !others.is_empty() => {
                name(permissions, others[place % others.len()], 1)?
            }
            _ => name(account, 0, 7)?,
        };
        let mut assets_cents = session.decimal(account, 0, 4)?;
        for row in 0..session.rows(held) {
            assets_cents += session.int(held, row, 1)? * session.decimal(held, row, 2)?;
        }
        Ok(Party {
            customer: session.int(account, 0, 2)?,
            broker: session.int(account, 0, 1)?,
            tier: session.int(account, 0, 6)? as i32,
            tax_status: session.int(account, 0, 3)? as i32,
            executor,
            assets_cents,
        })
    }
}

/// Queues the rows of the order.
fn record<S: Session>(session: &mut S, order: &Order, executor: &str, fees: Fees, unix_us: i64) {
    let (now, trade) = (Value::Timestamp(unix_us), Value::BigInt(order.trade));
    let (kind, symbol) = (Value::Text(order.kind.id()), Value::Text(order.symbol.text()));
    let (shares, bid) = (Value::Int(order.shares), Value::cents(order.bid_cents));
    let status = Value::Text(if order.kind.at_market() { "SBMT" } else { "PNDG" });
    session.queue(
        INSERT_TRADE,
        &[
            trade,
            now,
            status,
            kind,
            Value::Int(order.cash.into()),
            symbol,
            shares,
            bid,
            Value::BigInt(order.account),
            Value::Text(executor),
            Value::cents(fees.charge_cents),
            Value::cents(fees.commission_cents),
            Value::Int(order.lifo.into()),
        ],
    );
    if !order.kind.at_market() {
        let broker = Value::BigInt(order.broker);
        session.queue(INSERT_REQUEST, &[trade, kind, symbol, shares, bid, broker]);
    }
    session.queue(INSERT_HISTORY, &[trade, now, status]);
}
