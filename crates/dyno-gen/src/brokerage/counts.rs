//! Exact row counts of tables that only the simulation of all trades tells.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::Brokerage;

/// Expected rows of `holding_history` per trade, fitted to 1.249 at 10 days, 1.301 at 30 and 1.340 at
/// 300 (which is the published ratio): the first trades of an account have nothing to close.
pub(super) fn touched(size: &Brokerage) -> f64 {
    1.36 - 0.35 / f64::from(size.days).sqrt()
}

/// Expected rows of `holding`, fitted to 34 per account at 10 days and 181 at 300. The position in
/// a security is a random walk, so they grow with the root of the days.
pub(super) fn holdings(size: &Brokerage) -> u64 {
    (size.accounts() as f64 * 10.6 * f64::from(size.days).sqrt()) as u64
}

/// Rows of all tables without a formula.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    histories: u64,
    cash: u64,
    touched: u64,
    holdings: u64,
    summaries: u64,
}

/// Counts of the data that was asked for last: callers ask for one table after the other.
static LAST: Mutex<Option<(Brokerage, Counts)>> = Mutex::new(None);

impl Counts {
    /// The counts of `size`, by a simulation on all CPUs unless they are known.
    pub(super) fn of(size: &Brokerage) -> Self {
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        match *last {
            Some((known, counts)) if known == *size => counts,
            _ => last.insert((*size, Self::counted(size))).1,
        }
    }

    fn counted(size: &Brokerage) -> Self {
        let next = AtomicU64::new(0);
        let work = || {
            let mut total = Self::default();
            loop {
                let desk = next.fetch_add(1, Relaxed);
                if desk >= size.desks() {
                    return total;
                }
                total.add(&Self::of_desk(size, desk));
            }
        };
        let threads = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let mut total = Self::default();
            for worker in workers {
                total.add(&worker.join().expect("counting does not panic"));
            }
            total
        })
    }

    fn of_desk(size: &Brokerage, desk: u64) -> Self {
        let mut counts = Self::default();
        let accounts = size.simulate(desk, |trade| {
            counts.histories += 2 + u64::from(trade.pending.is_some());
            counts.cash += u64::from(trade.cash);
            counts.touched += trade.touched.len() as u64;
            Ok(())
        });
        for account in accounts.expect("counting does not fail") {
            for position in &account.positions {
                counts.holdings += position.lots.len() as u64;
                counts.summaries += u64::from(!position.lots.is_empty());
            }
        }
        counts
    }

    fn add(&mut self, other: &Self) {
        self.histories += other.histories;
        self.cash += other.cash;
        self.touched += other.touched;
        self.holdings += other.holdings;
        self.summaries += other.summaries;
    }

    /// The rows of a table.
    pub(super) fn rows(&self, table: &str) -> u64 {
        match table {
            "trade_history" => self.histories,
            "cash_transaction" => self.cash,
            "holding_history" => self.touched,
            "holding" => self.holdings,
            "holding_summary" => self.summaries,
            _ => unreachable!("tables come from the schema"),
        }
    }
}
