//! Trade-Update: corrections of trades of the past, in two or three round trips.

use dyno_record::Result;

use super::inputs::Trades;
use super::past;
use super::statements::{CASH, RENAME_CASH, RENAME_EXECUTOR, RETYPE_SETTLEMENT, SETTLEMENT};
use crate::wire::{Access, Session, Slot, Value};
use crate::workloads::contract::TxnOutcome;

/// Runs it once: by number, executors are renamed; of an account, the kind of settlement changes;
/// of a security, the descriptions of payments change. Each change is undone by the next.
pub async fn run<S: Session>(session: &mut S, input: &Trades) -> Result<TxnOutcome> {
    session.queue_begin(Access::Write);
    let mut found = past::find(session, input).await?;
    // Two updates must not take the locks of two trades in different orders.
    let mut order: Vec<usize> = (0..found.numbers.len()).collect();
    order.sort_unstable_by_key(|place| found.numbers[*place]);
    found.places = order.iter().map(|place| found.places[*place]).collect();
    found.numbers.sort_unstable();

    let (statement, texts) = match input {
        Trades::Numbers(_) => {
            let text = |(slot, row): &(Slot, usize)| Ok(renamed(session.text(*slot, *row, 2)?));
            (RENAME_EXECUTOR, found.places.iter().map(text).collect::<Result<Vec<_>>>()?)
        }
        Trades::Account(..) | Trades::Holdings(..) => {
            (RETYPE_SETTLEMENT, corrected(session, &found, SETTLEMENT, 2, retyped).await?)
        }
        Trades::Security(..) => {
            (RENAME_CASH, corrected(session, &found, CASH, 2, described).await?)
        }
    };
    for (number, text) in found.numbers.iter().zip(&texts) {
        // A trade on margin has no payment.
        if !text.is_empty() {
            session.queue(statement, &[Value::Text(text), Value::BigInt(*number)]);
        }
    }
    found.queue_details(session);
    session.queue_commit();
    session.flush().await?;
    Ok(TxnOutcome::Committed)
}

/// The texts in a column of a statement's row for each trade, changed; empty where there is none.
async fn corrected<S: Session>(
    session: &mut S,
    found: &past::Found,
    statement: crate::wire::StatementId,
    column: usize,
    change: fn(&str) -> String,
) -> Result<Vec<String>> {
    let slots: Vec<Slot> = found
        .numbers
        .iter()
        .map(|number| session.queue(statement, &[Value::BigInt(*number)]))
        .collect();
    session.flush().await?;
    let text = |slot: &Slot| match session.rows(*slot) {
        0 => Ok(String::new()),
        _ => session.text(*slot, 0, column).map(change),
    };
    slots.iter().map(text).collect()
}

/// With the middle initial X, or without it.
fn renamed(name: &str) -> String {
    match name.split_once(" X ") {
        Some((first, last)) => format!("{first} {last}"),
        None => name.replacen(' ', " X ", 1),
    }
}

/// `Cash Account` and `Cash`, `Margin Account` and `Margin`.
fn retyped(kind: &str) -> String {
    match kind.strip_suffix(" Account") {
        Some(short) => short.to_owned(),
        None => format!("{kind} Account"),
    }
}

/// `Shares of` and `shares of`.
fn described(text: &str) -> String {
    if text.contains(" shares of ") {
        text.replacen(" shares of ", " Shares of ", 1)
    } else {
        text.replacen(" Shares of ", " shares of ", 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_undone_by_the_next() {
        for (change, text) in [
            (renamed as fn(&str) -> String, "Ann Bee"),
            (retyped, "Cash Account"),
            (retyped, "Margin"),
            (described, "Market-Buy 100 shares of Some Company"),
        ] {
            let once = change(text);
            assert_ne!(once, text);
            assert_eq!(change(&once), text);
        }
    }
}
