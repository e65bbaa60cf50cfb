//! Trades of the past, for Trade-Lookup and Trade-Update.

use dyno_record::Result;

use super::inputs::{TRADES, Trades};
use super::statements::{CASH, HISTORY, SETTLEMENT, TRADE, TRADES_OF_ACCOUNT, TRADES_OF_SECURITY};
use crate::wire::{Session, Slot, Value};

/// After all trades: the year 9999, which every database knows.
const NEVER_US: i64 = 253_370_764_800_000_000;

/// Trades that were found.
#[derive(Debug)]
pub struct Found {
    /// Their numbers.
    pub numbers: Vec<i64>,
    /// Slots and rows of their results, in the same order.
    pub places: Vec<(Slot, usize)>,
}

/// Finds trades in one round trip; their results can be read until the next is queued.
pub async fn find<S: Session>(session: &mut S, wanted: &Trades) -> Result<Found> {
    let slots: Vec<Slot> = match *wanted {
        Trades::Numbers(numbers) => {
            numbers.iter().map(|number| session.queue(TRADE, &[Value::BigInt(*number)])).collect()
        }
        Trades::Account(account, time_us) | Trades::Holdings(account, time_us) => {
            let given =
                [Value::BigInt(account), Value::Timestamp(time_us), Value::Timestamp(NEVER_US)];
            vec![session.queue(TRADES_OF_ACCOUNT, &given)]
        }
        Trades::Security(symbol, time_us) => {
            let given =
                [Value::Text(symbol.text()), Value::Timestamp(time_us), Value::Timestamp(NEVER_US)];
            vec![session.queue(TRADES_OF_SECURITY, &given)]
        }
    };
    session.flush().await?;
    let rows = slots.iter().flat_map(|slot| (0..session.rows(*slot)).map(|row| (*slot, row)));
    let places: Vec<_> = rows.take(TRADES).collect();
    let number = |(slot, row): &(Slot, usize)| session.int(*slot, *row, 0);
    let numbers = places.iter().map(number).collect::<Result<_>>()?;
    Ok(Found { numbers, places })
}

impl Found {
    /// Queues the settlement, payment and history of each.
    pub fn queue_details<S: Session>(&self, session: &mut S) {
        for number in &self.numbers {
            for statement in [SETTLEMENT, CASH, HISTORY] {
                session.queue(statement, &[Value::BigInt(*number)]);
            }
        }
    }
}
