//! Customers and their accounts: what several tables have to agree on.

use std::fmt::Write as _;

use super::Brokerage;
use super::draws::{Draws, Use, below, hash, skewed};
use super::places::TaxRate;
use super::pools::names::{FAMILIES, MEN, WOMEN};

/// Customers whose trades are generated together, in the order of time.
pub(super) const DESK: u64 = 20;
/// Customers of a load unit: their accounts have the same ten brokers.
pub(super) const LOAD_UNIT: u64 = 1_000;
pub(super) const CUSTOMERS_PER_BROKER: u64 = 100;
/// Numbers of accounts set aside for each customer, who has 1 to 10 of them.
pub const MOST_ACCOUNTS: u64 = 10;

/// Tier and number of accounts of the customers of a desk, before they are shuffled. A desk has 100
/// accounts; the best tier has most of them.
#[rustfmt::skip]
const PATTERN: [(u8, u8); DESK as usize] = [
    (1, 1), (1, 2), (1, 3), (1, 4), (2, 2), (2, 3), (2, 4), (2, 4), (2, 5), (2, 5),
    (2, 5), (2, 5), (2, 6), (2, 6), (2, 7), (2, 8), (3, 5), (3, 7), (3, 8), (3, 10),
];
/// Multipliers without a common factor with [`DESK`].
const SHUFFLES: [u64; 8] = [1, 3, 7, 9, 11, 13, 17, 19];

/// Accounts of a desk.
pub(super) const DESK_ACCOUNTS: u64 = 100;

/// Of 100 accounts, these have one or two people besides the owner who may trade.
const ONE_HELPER: u32 = 38;
const TWO_HELPERS: u32 = 2;

/// A customer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Customer {
    /// From 1.
    pub(super) id: u64,
    /// From 1, the best one is 3.
    pub(super) tier: i32,
    pub(super) accounts: u64,
    pub(super) woman: bool,
    pub(super) given: &'static str,
    pub(super) family: &'static str,
}

impl Customer {
    pub(super) fn new(seed: u64, id: u64) -> Self {
        let (desk, index) = ((id - 1) / DESK, (id - 1) % DESK);
        let shuffle = hash(seed, Use::Account, !desk);
        let step = SHUFFLES[below(shuffle, 8) as usize];
        let (tier, accounts) = PATTERN[((index * step + shuffle % DESK) % DESK) as usize];
        let key = hash(seed, Use::Customer, id);
        let woman = key & 1 == 1;
        let given = if woman { &WOMEN } else { &MEN };
        Self {
            id,
            tier: i32::from(tier),
            accounts: u64::from(accounts),
            woman,
            given: given[skewed(key, given.len() as u32) as usize],
            family: FAMILIES[skewed(key << 31, FAMILIES.len() as u32) as usize],
        }
    }

    /// The numbers of the customer's accounts.
    pub(super) fn account_ids(&self) -> std::ops::Range<u64> {
        let first = (self.id - 1) * MOST_ACCOUNTS + 1;
        first..first + self.accounts
    }

    /// Appends given and family name.
    pub(super) fn name(&self, text: &mut String) {
        text.push_str(self.given);
        text.push(' ');
        text.push_str(self.family);
    }

    /// The sum of the customer's tax rates, in units of 1/100,000.
    pub(super) fn tax_rate(&self, size: &Brokerage) -> i64 {
        TaxRate::of(size, self.id).iter().map(|rate| rate.rate(size.seed)).sum()
    }
}

/// Writes the tax number of a customer, which is unique.
pub(super) fn tax_id(seed: u64, customer: u64, text: &mut String) {
    // 3^18 has no common factor with 10^9, so that customers have different numbers.
    let number =
        (customer * 387_420_489 + hash(seed, Use::TaxId, 0) % 1_000_000_000) % 1_000_000_000;
    text.clear();
    write!(text, "{:03}-{:02}-{:04}", number / 1_000_000, number / 10_000 % 100, number % 10_000)
        .expect("text takes all");
}

/// The customers, other than the owner, who may trade with an account: none, one or two.
pub(super) fn helpers(size: &Brokerage, account: u64) -> impl Iterator<Item = u64> {
    let owner = (account - 1) / MOST_ACCOUNTS + 1;
    let key = hash(size.seed, Use::Permission, account);
    let count = match below(key, 100) {
        0..TWO_HELPERS => 2,
        chance if chance < TWO_HELPERS + ONE_HELPER => 1,
        _ => 0,
    };
    // Others of the same 100: number `owner` plus 1 to 99, and further on for a second one.
    let (hundred, place) = ((owner - 1) / 100 * 100, (owner - 1) % 100);
    let step = 1 + key % 49;
    (1..=count).map(move |number| hundred + (place + step * number) % 100 + 1)
}

/// The number of accounts' owners and helpers in a desk.
pub(super) fn count_permissions(size: &Brokerage, desk: u64) -> u64 {
    let accounts = customers_of(size.seed, desk).flat_map(|customer| customer.account_ids());
    accounts.map(|account| 1 + helpers(size, account).count() as u64).sum()
}

/// The numbers of a desk's customers.
pub(super) fn customer_ids(desk: u64) -> std::ops::Range<u64> {
    desk * DESK + 1..(desk + 1) * DESK + 1
}

/// The customers of a desk.
pub(super) fn customers_of(seed: u64, desk: u64) -> impl Iterator<Item = Customer> {
    customer_ids(desk).map(move |id| Customer::new(seed, id))
}

/// The broker of an account, from 1: one of its load unit.
pub(super) fn broker_of(size: &Brokerage, account: u64) -> u64 {
    let unit = (account - 1) / MOST_ACCOUNTS / LOAD_UNIT;
    let first = unit * (LOAD_UNIT / CUSTOMERS_PER_BROKER);
    first + hash(size.seed, Use::Account, account) % size.brokers_of(unit) + 1
}

/// The tax status of an account: 0 untaxed (20 %), 1 withheld (50 %), 2 taxed otherwise.
pub(super) fn tax_status(seed: u64, account: u64) -> i32 {
    match below(hash(seed, Use::Account, account), 10) {
        0..2 => 0,
        2..7 => 1,
        _ => 2,
    }
}

/// The securities of an account: 5 to 15 different ones.
pub(super) fn securities_of(size: &Brokerage, account: u64, found: &mut Vec<u64>) {
    let mut draws = Draws::new(size.seed, Use::Security, account);
    let count = 5 + draws.below(11) as usize;
    found.clear();
    while found.len() < count {
        let security = draws.between(0, size.securities() as i64 - 1) as u64;
        if !found.contains(&security) {
            found.push(security);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_desk_has_a_hundred_accounts_of_all_tiers() {
        for desk in 0..50 {
            let customers: Vec<_> = customers_of(9, desk).collect();
            assert_eq!(customers.iter().map(|one| one.accounts).sum::<u64>(), DESK_ACCOUNTS);
            let tier = |tier| customers.iter().filter(|one| one.tier == tier).count();
            assert_eq!([1, 2, 3].map(tier), [4, 12, 4]);
        }
    }

    #[test]
    fn helpers_are_other_customers_and_about_as_many_as_published() {
        let size = Brokerage::new(1.0, 1).unwrap();
        let mut count = 0;
        for customer in 1..=1_000 {
            for account in Customer::new(1, customer).account_ids() {
                let found: Vec<_> = helpers(&size, account).collect();
                assert!(found.iter().all(|one| (1..=1_000).contains(one) && *one != customer));
                assert!(found.len() < 2 || found[0] != found[1]);
                count += 1 + found.len();
            }
        }
        assert!((6_900..7_300).contains(&count), "{count} of 7,100");
    }
}
