//! Procedure mode: the same transactions in the database, one call each.
//!
//! Trade-Order is two calls in one transaction, because the exchange, which is in the driver, names
//! the price between them. Procedures get inputs and return what a screen would show as one row,
//! with lists as text. They belong to the target. A call is a transaction of its own, except those
//! of Trade-Order.

use dyno_record::{Error, ErrorKind, Result};

use super::Drawn;
use super::data::Data;
use super::exchange::{Exchange, Executed, Tick};
use super::inputs::{BrokerVolume, MarketWatch, TradeOrder, Trades, Watched};
use super::kind::{Kind, NAMES};
use super::maintenance::Maintenance;
use super::order::{Order, Symbol};
use super::statements::BROKERS;
use super::trade_result::{DAY_US, DUE_DAYS};
use crate::wire::{Access, Dialect, Session, Slot, Statement, StatementId, Type, Value};
use crate::workloads::contract::TxnOutcome;
use crate::workloads::declared::calling;

const INT: Type = Type::Int;
const LONG: Type = Type::BigInt;
const TEXT: Type = Type::Text;
const MONEY: Type = Type::Decimal(2);
const DATE: Type = Type::Date;
const TIME: Type = Type::Timestamp;

/// The second call of a Trade-Order.
const ENTER_ORDER: StatementId = StatementId(NAMES.len() as u16);
const CLEAN_UP: StatementId = StatementId(ENTER_ORDER.0 + 1);

type Procedure = (&'static str, &'static [Type], &'static [Type]);

/// Names, parameters and results of the procedures: those of [`Kind`] in its order, then the second
/// call of a Trade-Order and Trade-Cleanup. The first result is a number that tells that the
/// procedure did its work.
const PROCEDURES: [Procedure; NAMES.len() + 2] = [
    // A sector, names of brokers; how many have open orders there, and their volumes.
    ("dyno_broker_volume", &[TEXT; BROKERS + 1], &[INT, TEXT]),
    // The customer, also by tax number or null, place of the account with history or null; number
    // of accounts, the customer, the accounts, the history.
    ("dyno_customer_position", &[LONG, TEXT, INT], &[INT, TEXT, TEXT, TEXT]),
    // Number of the table, customer, account, company, security, day, time, today; changed rows.
    ("dyno_data_maintenance", &[INT, LONG, LONG, LONG, TEXT, DATE, TIME, DATE], &[INT]),
    // Time, security, price, shares; number of orders that it submitted, the orders.
    ("dyno_market_feed", &[TIME, TEXT, MONEY, INT], &[INT, TEXT]),
    // Customer or null, account or null, industry with its first and last company; the day. Value
    // then and now.
    ("dyno_market_watch", &[LONG, LONG, TEXT, LONG, LONG, DATE], &[MONEY, MONEY]),
    // Security, first day, whether with the text of the news; number of days, the security and its
    // company, competitors, quarters, days, last price, news.
    ("dyno_security_detail", &[TEXT, DATE, INT], &[INT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT]),
    ("dyno_trade_lookup", PAST, &[INT, TEXT]),
    // Account, place of who else orders or null, kind, security, company and issue instead or null;
    // customer, broker, tier, kind of taxation, who orders, assets, security and its opening price.
    (
        "dyno_trade_order",
        &[LONG, INT, TEXT, TEXT, TEXT, TEXT],
        &[LONG, LONG, INT, INT, TEXT, MONEY, TEXT, MONEY],
    ),
    // The order and its price, time, day of payment; changed holdings, commission, tax, payment.
    (
        "dyno_trade_result",
        &[LONG, LONG, LONG, LONG, INT, TEXT, TEXT, INT, MONEY, INT, INT, INT, TIME, DATE],
        &[INT, MONEY, MONEY, MONEY],
    ),
    // Account; number of trades, its owner and broker, the trades.
    ("dyno_trade_status", &[LONG], &[INT, TEXT, TEXT]),
    ("dyno_trade_update", PAST, &[INT, TEXT]),
    // The order, who orders, whether it is withdrawn, time; charge, commission, expected tax.
    (
        "dyno_trade_order_entry",
        &[LONG, LONG, LONG, LONG, INT, TEXT, TEXT, INT, MONEY, INT, INT, TEXT, INT, TIME],
        &[MONEY, MONEY, MONEY],
    ),
    // The last loaded trade, time; number of the next trade.
    ("dyno_trade_cleanup", &[LONG, TIME], &[LONG]),
];

/// How trades of the past are found (1: by number; 2: of an account; 3: of a security; 4: the
/// holdings of an account's first trade), numbers, account, security, since when. How many were
/// found, and the trades.
const PAST: &[Type] = &[INT, TEXT, LONG, TEXT, TIME];

/// The calls.
pub fn all(dialect: Dialect) -> Vec<Statement> {
    let call = |(name, params, returns): &Procedure| {
        let given = (1..=params.len()).map(|number| format!("${number}"));
        let sql = calling(dialect, name, given, returns.len()).into();
        Statement { name, sql, params, returns }
    };
    PROCEDURES.iter().map(call).collect()
}

/// Calls the procedure of a transaction without consequences for the exchange.
pub async fn call<S: Session>(
    session: &mut S,
    drawn: &Drawn,
    data: &Data,
    unix_us: i64,
) -> Result<TxnOutcome> {
    let id = id(drawn.kind());
    let slot = match drawn {
        Drawn::BrokerVolume(input) => queue_broker_volume(session, id, input, data),
        Drawn::CustomerPosition(input) => {
            let tax = input.by_tax.then(|| data.tax_number(input.customer));
            let given = [Value::BigInt(input.customer), text(tax.as_deref()), place(input.history)];
            session.queue(id, &given)
        }
        Drawn::DataMaintenance(input) => queue_maintenance(session, id, input, unix_us),
        Drawn::MarketWatch(input) => queue_market_watch(session, id, input),
        Drawn::SecurityDetail(input) => {
            let symbol = Value::Text(input.symbol.text());
            session.queue(id, &[symbol, Value::Date(input.day), Value::Int(input.news.into())])
        }
        Drawn::TradeLookup(input) | Drawn::TradeUpdate(input) => queue_past(session, id, input),
        Drawn::TradeResult(executed) => queue_trade_result(session, id, executed, unix_us),
        Drawn::TradeStatus(account) => session.queue(id, &[Value::BigInt(*account)]),
        Drawn::MarketFeed(_) | Drawn::TradeOrder(_) => return Err(odd("a call of its own")),
    };
    session.flush().await?;
    // If it is missing, nothing was done.
    if session.is_null(slot, 0, 0)? {
        return Err(odd(PROCEDURES[usize::from(id.0)].0));
    }
    Ok(TxnOutcome::Committed)
}

/// Calls Market-Feed for a security; returns the trades that it submitted.
pub async fn market_feed<S: Session>(
    session: &mut S,
    tick: &Tick,
    unix_us: i64,
) -> Result<Vec<i64>> {
    let given = [
        Value::Timestamp(unix_us),
        Value::Text(tick.symbol.text()),
        Value::cents(tick.cents),
        Value::Int(tick.shares),
    ];
    let slot = session.queue(id(Kind::MarketFeed), &given);
    session.flush().await?;
    if session.is_null(slot, 0, 1)? {
        return Ok(Vec::new());
    }
    let number = |text: &str| text.parse().map_err(|_| odd("dyno_market_feed"));
    session.text(slot, 0, 1)?.split(',').filter(|text| !text.is_empty()).map(number).collect()
}

/// Calls Trade-Order as trade number `trade`; returns the order, or none if it was withdrawn.
pub async fn trade_order<S: Session>(
    session: &mut S,
    input: &TradeOrder,
    (data, exchange): (&Data, &Exchange),
    trade: i64,
    (unix_us, now_ns): (i64, u64),
) -> Result<Option<Order>> {
    // A procedure of MariaDB and MySQL begins and ends transactions itself, which saves a round
    // trip for the commit.
    let opens = S::DIALECT != Dialect::Mysql;
    if opens {
        session.queue_begin(Access::Write);
    }
    let company = input.company.map(|(number, _)| data.company(number));
    let given = [
        Value::BigInt(input.account),
        place(input.other),
        Value::Text(input.kind.id()),
        Value::Text(input.security.text()),
        text(company.as_deref()),
        text(input.company.map(|(_, issue)| issue)),
    ];
    let slot = session.queue(id(Kind::TradeOrder), &given);
    session.flush().await?;

    let symbol = Symbol::new(session.text(slot, 0, 6)?);
    let reached_ns = now_ns + input.wait_ns;
    let bid_cents = exchange.price(symbol, session.decimal(slot, 0, 7)?, reached_ns);
    let order = Order {
        trade,
        account: input.account,
        customer: session.int(slot, 0, 0)?,
        broker: session.int(slot, 0, 1)?,
        tier: session.int(slot, 0, 2)? as i32,
        kind: input.kind,
        symbol,
        shares: input.shares,
        bid_cents,
        reached_ns,
        lifo: input.lifo,
        cash: input.cash,
        tax_status: session.int(slot, 0, 3)? as i32,
    };
    let executor = session.text(slot, 0, 4)?.to_owned();
    let mut given = [Value::Null; 14];
    given[..11].copy_from_slice(&values(&order, order.bid_cents));
    given[11] = Value::Text(&executor);
    given[12] = Value::Int(input.rolls_back.into());
    given[13] = Value::Timestamp(unix_us);
    session.queue(ENTER_ORDER, &given);
    match (opens, input.rolls_back) {
        (true, true) => session.queue_rollback(),
        (true, false) => session.queue_commit(),
        (false, _) => {}
    }
    session.flush().await?;
    Ok((!input.rolls_back).then_some(order))
}

/// Calls Trade-Cleanup; returns the number of the next trade.
pub async fn clean_up<S: Session>(session: &mut S, last_loaded: i64, unix_us: i64) -> Result<i64> {
    let given = [Value::BigInt(last_loaded), Value::Timestamp(unix_us)];
    let slot = session.queue(CLEAN_UP, &given);
    session.flush().await?;
    Ok(session.int(slot, 0, 0)?.max(1))
}

const fn id(kind: Kind) -> StatementId {
    StatementId(kind as u16)
}

fn text(given: Option<&str>) -> Value<'_> {
    given.map_or(Value::Null, Value::Text)
}

fn place<'a>(given: Option<usize>) -> Value<'a> {
    given.map_or(Value::Null, |place| Value::Int(place as i32))
}

/// The parameters that an order's entry and its result share.
fn values(order: &Order, cents: i64) -> [Value<'_>; 11] {
    [
        Value::BigInt(order.trade),
        Value::BigInt(order.account),
        Value::BigInt(order.customer),
        Value::BigInt(order.broker),
        Value::Int(order.tier),
        Value::Text(order.kind.id()),
        Value::Text(order.symbol.text()),
        Value::Int(order.shares),
        Value::cents(cents),
        Value::Int(order.lifo.into()),
        Value::Int(order.cash.into()),
    ]
}

fn queue_broker_volume<S: Session>(
    session: &mut S,
    id: StatementId,
    input: &BrokerVolume,
    data: &Data,
) -> Slot {
    let names: Vec<String> = input.brokers.iter().map(|number| data.broker(*number)).collect();
    let mut given = [Value::Text(input.sector); BROKERS + 1];
    for (value, name) in given[1..].iter_mut().zip(&names) {
        *value = Value::Text(name);
    }
    session.queue(id, &given)
}

fn queue_maintenance<S: Session>(
    session: &mut S,
    id: StatementId,
    input: &Maintenance,
    unix_us: i64,
) -> Slot {
    let given = [
        Value::Int(input.table() as i32),
        Value::BigInt(input.customer),
        Value::BigInt(input.account),
        Value::BigInt(input.company),
        Value::Text(input.symbol.text()),
        Value::Date(input.day),
        Value::Timestamp(unix_us),
        Value::Date(unix_us.div_euclid(DAY_US) as i32),
    ];
    session.queue(id, &given)
}

fn queue_market_watch<S: Session>(session: &mut S, id: StatementId, input: &MarketWatch) -> Slot {
    let none = Value::Null;
    let [watcher, account, industry, first, last] = match input.watched {
        Watched::List(customer) => [Value::BigInt(customer), none, none, none, none],
        Watched::Account(account) => [none, Value::BigInt(account), none, none, none],
        Watched::Industry(name, first, last) => {
            [none, none, Value::Text(name), Value::BigInt(first), Value::BigInt(last)]
        }
    };
    session.queue(id, &[watcher, account, industry, first, last, Value::Date(input.day)])
}

fn queue_past<S: Session>(session: &mut S, id: StatementId, input: &Trades) -> Slot {
    let listed = match input {
        Trades::Numbers(numbers) => numbers_text(numbers),
        _ => String::new(),
    };
    let none = Value::Null;
    let (how, account, symbol, since) = match input {
        Trades::Numbers(_) => (1, none, none, none),
        Trades::Account(account, time_us) => {
            (2, Value::BigInt(*account), none, Value::Timestamp(*time_us))
        }
        Trades::Security(symbol, time_us) => {
            (3, none, Value::Text(symbol.text()), Value::Timestamp(*time_us))
        }
        Trades::Holdings(account, time_us) => {
            (4, Value::BigInt(*account), none, Value::Timestamp(*time_us))
        }
    };
    session.queue(id, &[Value::Int(how), Value::Text(&listed), account, symbol, since])
}

fn queue_trade_result<S: Session>(
    session: &mut S,
    id: StatementId,
    executed: &Executed,
    unix_us: i64,
) -> Slot {
    let mut given = [Value::Null; 14];
    given[..11].copy_from_slice(&values(&executed.order, executed.cents));
    given[11..].copy_from_slice(&[
        Value::Int(executed.order.tax_status),
        Value::Timestamp(unix_us),
        Value::Date(unix_us.div_euclid(DAY_US) as i32 + DUE_DAYS),
    ]);
    session.queue(id, &given)
}

/// Numbers in ascending order, each once: a trade is corrected once, however often it was drawn.
fn numbers_text(numbers: &[i64]) -> String {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
    texts.join(",")
}

#[cold]
fn odd(what: &str) -> Error {
    Error::new(ErrorKind::Database, format!("{what} did not return what it should"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_in_the_order_of_the_operations() {
        let all = all(Dialect::Postgres);
        let names: Vec<String> = NAMES.iter().map(|name| format!("dyno_{name}")).collect();
        let found: Vec<_> = all.iter().map(|call| call.name).collect();
        assert_eq!(found[..NAMES.len()], names);
        assert_eq!(found[usize::from(ENTER_ORDER.0)], "dyno_trade_order_entry");
        assert_eq!(found[usize::from(CLEAN_UP.0)], "dyno_trade_cleanup");
        assert_eq!(all[usize::from(CLEAN_UP.0)].sql, "call dyno_trade_cleanup($1, $2, null)");
    }

    #[test]
    fn lists_are_separated_by_commas() {
        assert_eq!(numbers_text(&[30, 7, 30, 8]), "7,8,30");
    }
}
