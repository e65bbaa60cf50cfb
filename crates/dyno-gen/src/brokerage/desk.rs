//! The simulation of a desk's trades, in the order of their completion.

use std::collections::VecDeque;

use dyno_record::Result;

use super::Brokerage;
use super::calendar::{MARKET_DAYS, SECOND, TRADING, opening, settled};
use super::draws::{Draws, Use};
use super::fees::{LIMIT_BUY, LIMIT_SELL, STOP_LOSS, TYPES, charge, commission, range, rate};
use super::lots::{Lot, Touch, trade};
use super::market::exchange_of;
use super::people::{
    Customer, DESK, DESK_ACCOUNTS, broker_of, customers_of, helpers, securities_of, tax_status,
};
use super::prices::{Day, Prices};
use super::securities::Symbol;

/// Trades of a desk in a day: 57.6 per customer.
const TRADES: u64 = DESK * 576 / 10;
/// The time between two of them, on average: 25 s.
const SLOT: i64 = TRADING / TRADES as i64;

/// Shares of a trade.
const QUANTITIES: [i32; 4] = [100, 200, 400, 800];
/// Trades that are paid at once, and trades that close the last holding first, of 100.
const CASH: u32 = 92;
const LAST_FIRST: u32 = 35;
/// Trades that somebody else orders, of 100 in accounts where one may.
const HELPED: u32 = 10;
/// The longest time between submission and completion; the mean is a fifth of it.
const MOST_DELAY: i64 = 5 * SECOND;

/// The opening balance of an account, in cents, times the tier of the customer.
const DEPOSIT: i64 = 50_000_000;

/// An account and what its trades so far amount to.
#[derive(Debug)]
pub(super) struct Account {
    pub(super) id: u64,
    pub(super) owner: Customer,
    pub(super) broker: u64,
    /// In cents.
    pub(super) balance: i64,
    pub(super) trades: u64,
    /// In cents.
    pub(super) commission: i64,
    pub(super) positions: Vec<Position>,
    pub(super) tax_status: i32,
    tax_rate: i64,
    helper: Option<Customer>,
}

/// The holdings of an account in a security.
#[derive(Debug)]
pub(super) struct Position {
    pub(super) security: u64,
    pub(super) symbol: Symbol,
    prices: Prices,
    pub(super) lots: VecDeque<Lot>,
}

/// A completed trade. Amounts are in cents.
#[derive(Debug)]
pub(super) struct Trade<'d> {
    pub(super) id: u64,
    pub(super) account: &'d Account,
    pub(super) position: &'d Position,
    /// Index of its type.
    pub(super) kind: usize,
    pub(super) executor: &'d Customer,
    /// When a limit order was requested.
    pub(super) pending: Option<i64>,
    pub(super) submitted: i64,
    pub(super) completed: i64,
    /// The date of its settlement, in days since 1970-01-01.
    pub(super) due: i32,
    pub(super) cash: bool,
    pub(super) last_first: bool,
    pub(super) quantity: i32,
    pub(super) bid: i32,
    pub(super) price: i32,
    pub(super) charge: i64,
    pub(super) commission: i64,
    pub(super) tax: i64,
    /// What the account gains by it: negative for a purchase.
    pub(super) amount: i64,
    pub(super) touched: &'d [Touch],
}

/// A slice of 16 random bits, as a number below `count`.
#[inline]
const fn slice(bits: u64, from: u32, count: u32) -> u32 {
    ((bits >> from & 0xffff) as u32 * count) >> 16
}

impl Brokerage {
    pub(super) const fn trades_of_desk(&self) -> u64 {
        TRADES * self.days as u64
    }

    /// The first trading day with trades.
    pub(super) const fn first_day(&self) -> u32 {
        MARKET_DAYS - self.days
    }

    /// The accounts of a desk, before their first trade.
    fn opened(&self, desk: u64) -> Vec<Account> {
        let mut accounts = Vec::with_capacity(DESK_ACCOUNTS as usize);
        let mut securities = Vec::new();
        for owner in customers_of(self.seed, desk) {
            let tax_rate = owner.tax_rate(self);
            for id in owner.account_ids() {
                securities_of(self, id, &mut securities);
                let position = |&security: &u64| Position {
                    security,
                    symbol: Symbol::new(security),
                    prices: Prices::new(self.seed, security),
                    lots: VecDeque::new(),
                };
                accounts.push(Account {
                    id,
                    owner,
                    broker: broker_of(self, id),
                    balance: DEPOSIT * i64::from(owner.tier),
                    trades: 0,
                    commission: 0,
                    positions: securities.iter().map(position).collect(),
                    tax_status: tax_status(self.seed, id),
                    tax_rate,
                    helper: helpers(self, id).next().map(|helper| Customer::new(self.seed, helper)),
                });
            }
        }
        accounts
    }

    /// Simulates the trades of a desk and calls `each` for every one, in order. Returns the accounts
    /// after the last one.
    ///
    /// # Errors
    /// Those of `each`.
    pub(super) fn simulate(
        &self,
        desk: u64,
        mut each: impl FnMut(&Trade<'_>) -> Result<()>,
    ) -> Result<Vec<Account>> {
        let mut accounts = self.opened(desk);
        let mut draws = Draws::new(self.seed, Use::Trade, desk);
        let mut touched = Vec::new();
        let mut id = desk * self.trades_of_desk();
        for day in self.first_day()..MARKET_DAYS {
            let (open, due) = (opening(day), settled(day));
            for slot in 0..TRADES as i64 {
                id += 1;
                let (who, how, when) = (draws.next(), draws.next(), draws.next());
                let account = &mut accounts[slice(who, 0, DESK_ACCOUNTS as u32) as usize];
                let place = slice(who, 16, account.positions.len() as u32) as usize;
                let position = &mut account.positions[place];
                let kind = kind_of(slice(who, 32, 100));
                let quantity = QUANTITIES[slice(how, 16, 4) as usize];
                let last_first = slice(how, 0, 100) < LAST_FIRST;
                let cash = slice(who, 48, 100) < CASH;

                let since = slot * SLOT + ((SLOT * (when >> 40) as i64) >> 24);
                let submitted = (since - delay(when & 0xffff)).max(0);
                let waited = (submitted >> 16) * (when >> 16 & 0xffff) as i64;
                let prices = position.prices.day(day);
                let price = prices.at(since);
                let bid = bid(kind, price, &prices, submitted, slice(how, 48, 1_000));

                let signed = if TYPES[kind].sells { -quantity } else { quantity };
                let lot = Lot { trade: id, quantity: signed, price, at: open + since };
                let gain = trade(&mut position.lots, lot, last_first, &mut touched);

                let tier = account.owner.tier;
                let value = i64::from(quantity) * i64::from(price);
                let exchange = exchange_of(position.security);
                let commission = commission(value, rate(tier, kind, exchange, range(quantity)));
                let charge = charge(kind, tier);
                let taxed = if account.tax_status == 0 { 0 } else { gain.max(0) };
                let tax = (taxed * account.tax_rate + 50_000) / 100_000;
                let withheld = if account.tax_status == 1 { tax } else { 0 };
                let signed_value = if TYPES[kind].sells { value } else { -value };
                let amount = signed_value - commission - charge - withheld;
                account.trades += 1;
                account.commission += commission;
                account.balance += if cash { amount } else { 0 };

                let account = &*account;
                let helper = account.helper.as_ref().filter(|_| slice(how, 32, 100) < HELPED);
                each(&Trade {
                    id,
                    account,
                    position: &account.positions[place],
                    kind,
                    executor: helper.unwrap_or(&account.owner),
                    pending: (!TYPES[kind].market).then_some(open + waited),
                    submitted: open + submitted,
                    completed: open + since,
                    due,
                    cash,
                    last_first,
                    quantity,
                    bid,
                    price,
                    charge,
                    commission,
                    tax,
                    amount,
                    touched: &touched,
                })?;
            }
        }
        Ok(accounts)
    }
}

/// The type at a percentage.
#[inline]
fn kind_of(mut percent: u32) -> usize {
    let mut kind = 0;
    while percent >= TYPES[kind].share {
        percent -= TYPES[kind].share;
        kind += 1;
    }
    kind
}

/// The time from submission to completion: the fourth power of 16 random bits has the published
/// mean, a fifth of the maximum.
#[inline]
const fn delay(bits: u64) -> i64 {
    let square = (bits * bits) >> 16;
    (((square * square) >> 16) as i64 * MOST_DELAY) >> 16
}

/// The price that was asked for: that at submission, or the limit of a limit order, up to 1 % on
/// the side of the price that triggers it.
#[inline]
fn bid(kind: usize, price: i32, prices: &Day, submitted: i64, thousandths: u32) -> i32 {
    let apart = (i64::from(price) * i64::from(thousandths) / 100_000) as i32;
    match kind {
        LIMIT_BUY | STOP_LOSS => price + apart,
        LIMIT_SELL => price - apart,
        _ => prices.at(submitted),
    }
}
