//! Procedure mode: the same five transactions in the database, one round trip each.
//!
//! The terminal sends the user's input. The procedure runs the same statements as client mode and
//! returns the screen's values as one row, with lists as text. The procedures belong to the target.
//! A call is a transaction of its own, and the procedure performs the prescribed rollback.

use std::fmt::Write as _;

use dyno_gen::tpcc::nurand::push_last_name;
use dyno_record::{Error, ErrorKind, Result};

use super::Drawn;
use super::inputs::{Customer, Delivery, NewOrder, Payment, Selector, StockLevel, UNUSED_ITEM};
use super::new_order::lock_order;
use crate::wire::{Dialect, Session, Slot, Statement, StatementId, Type, Value};
use crate::workloads::contract::TxnOutcome;
use crate::workloads::declared::calling;

const INT: Type = Type::Int;
const TEXT: Type = Type::Text;
const MONEY: Type = Type::Decimal(2);
/// Taxes and discounts.
const RATE: Type = Type::Decimal(4);
/// Money times three rates.
const TOTAL: Type = Type::Decimal(10);
const TIME: Type = Type::Timestamp;

/// Names, parameters and results of the procedures, in the order of [`Kind`](super::deck::Kind).
const PROCEDURES: [(&str, &[Type], &[Type]); 5] = [
    (
        "dyno_new_order",
        // Warehouse, district, customer, time; item, warehouse and quantity of each line; the line
        // numbers in locking order.
        &[INT, INT, INT, TIME, TEXT, TEXT],
        // Order number, null if it was rolled back; name and credit of the customer; discount,
        // taxes, total, and the lines.
        &[INT, TEXT, TEXT, RATE, RATE, RATE, TOTAL, TEXT],
    ),
    (
        "dyno_payment",
        // Warehouse and district of the payment; those of the customer; the customer by number or
        // by name; amount; time.
        &[INT, INT, INT, INT, INT, TEXT, MONEY, TIME],
        // Number and balance of the customer; addresses, the customer, and data of a bad-credit
        // customer.
        &[INT, MONEY, TEXT, TEXT, TEXT],
    ),
    (
        "dyno_order_status",
        // Warehouse, district, the customer by number or by name.
        &[INT, INT, INT, TEXT],
        // The customer's number, balance and name; the order's number, carrier, time and lines.
        &[INT, MONEY, TEXT, INT, INT, TIME, TEXT],
    ),
    // Warehouse, carrier, time; orders delivered.
    ("dyno_delivery", &[INT, INT, TIME], &[INT]),
    // Warehouse, district, threshold; items below it.
    ("dyno_stock_level", &[INT, INT, INT], &[INT]),
];

/// The calls.
pub fn all(dialect: Dialect) -> Vec<Statement> {
    PROCEDURES
        .iter()
        .map(|(name, params, returns)| {
            let given = (1..=params.len()).map(|number| format!("${number}"));
            let sql = calling(dialect, name, given, returns.len()).into();
            Statement { name, sql, params, returns }
        })
        .collect()
}

/// Calls the procedure of the drawn transaction. `text` is scratch space.
pub async fn call<S: Session>(
    session: &mut S,
    drawn: &Drawn,
    unix_us: i64,
    text: &mut String,
) -> Result<TxnOutcome> {
    text.clear();
    let id = StatementId(drawn.kind() as u16);
    let slot = match drawn {
        Drawn::NewOrder(input) => queue_new_order(session, id, input, unix_us, text),
        Drawn::Payment(input) => queue_payment(session, id, input, unix_us, text),
        Drawn::OrderStatus(input) => queue_order_status(session, id, input, text),
        Drawn::Delivery(Delivery { warehouse, carrier }) => {
            let parameters =
                [Value::Int(*warehouse), Value::Int(*carrier), Value::Timestamp(unix_us)];
            session.queue(id, &parameters)
        }
        Drawn::StockLevel(StockLevel { warehouse, district, threshold }) => session
            .queue(id, &[Value::Int(*warehouse), Value::Int(*district), Value::Int(*threshold)]),
    };
    session.flush().await?;
    match drawn {
        Drawn::NewOrder(input) => ended(session, slot, input),
        // In each, the first result is a number: if it is missing, nothing was done.
        _ => session.int(slot, 0, 0).map(|_| TxnOutcome::Committed),
    }
}

fn queue_new_order<S: Session>(
    session: &mut S,
    id: StatementId,
    input: &NewOrder,
    unix_us: i64,
    text: &mut String,
) -> Slot {
    let lines = input.lines();
    for line in lines {
        push(text, 0, line.item);
        push(text, 0, line.supply_warehouse);
        push(text, 0, line.quantity);
    }
    let start = text.len();
    for position in &lock_order(lines)[..lines.len()] {
        push(text, start, i32::from(*position) + 1);
    }
    let (lines, locks) = text.split_at(start);
    session.queue(
        id,
        &[
            Value::Int(input.warehouse),
            Value::Int(input.district),
            Value::Int(input.customer),
            Value::Timestamp(unix_us),
            Value::Text(lines),
            Value::Text(locks),
        ],
    )
}

fn queue_payment<S: Session>(
    session: &mut S,
    id: StatementId,
    input: &Payment,
    unix_us: i64,
    text: &mut String,
) -> Slot {
    let Payment { warehouse, district, customer, cents } = input;
    let [number, name] = selected(customer.selector, text);
    session.queue(
        id,
        &[
            Value::Int(*warehouse),
            Value::Int(*district),
            Value::Int(customer.warehouse),
            Value::Int(customer.district),
            number,
            name,
            Value::cents(*cents),
            Value::Timestamp(unix_us),
        ],
    )
}

fn queue_order_status<S: Session>(
    session: &mut S,
    id: StatementId,
    input: &Customer,
    text: &mut String,
) -> Slot {
    let [number, name] = selected(input.selector, text);
    session.queue(id, &[Value::Int(input.warehouse), Value::Int(input.district), number, name])
}

/// Appends to a list of numbers that starts at `start`.
fn push(list: &mut String, start: usize, number: i32) {
    let comma = if list.len() > start { "," } else { "" };
    let written = write!(list, "{comma}{number}");
    debug_assert!(written.is_ok(), "a String takes all that is written");
}

/// A customer as number and last name, one of them null. The name is written to `text`.
fn selected(selector: Selector, text: &mut String) -> [Value<'_>; 2] {
    match selector {
        Selector::Number(number) => [Value::Int(number), Value::Null],
        Selector::LastName(number) => {
            push_last_name(number, text);
            [Value::Null, Value::Text(text)]
        }
    }
}

/// How a New-Order ended: the procedure must roll back if and only if the user entered the unused
/// item.
fn ended<S: Session>(session: &S, slot: Slot, input: &NewOrder) -> Result<TxnOutcome> {
    let rolled_back = session.is_null(slot, 0, 0)?;
    if !rolled_back {
        let number = session.int(slot, 0, 0)?;
        return match input.rolls_back {
            // The null target never rolls back; its order numbers are all 0.
            true if number == 0 => Ok(TxnOutcome::RolledBack),
            true => Err(odd(&format!("item {UNUSED_ITEM} exists, which no order may contain"))),
            false => Ok(TxnOutcome::Committed),
        };
    }
    if input.rolls_back {
        return Ok(TxnOutcome::RolledBack);
    }
    Err(odd("an item of the order is missing"))
}

#[cold]
fn odd(what: &str) -> Error {
    Error::new(ErrorKind::Database, format!("{what}: the data differs from what was loaded"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::tpcc::deck::NAMES;

    #[test]
    fn calls_are_in_the_order_of_the_operations() {
        let all = all(Dialect::Postgres);
        let names: Vec<String> = NAMES.iter().map(|name| format!("dyno_{name}")).collect();
        assert_eq!(all.iter().map(|call| call.name).collect::<Vec<_>>(), names);
        assert_eq!(all[3].sql, "call dyno_delivery($1, $2, $3, null)");
    }

    #[test]
    fn lists_are_separated_by_commas() {
        let mut text = String::new();
        push(&mut text, 0, 7);
        push(&mut text, 0, 12);
        let start = text.len();
        push(&mut text, start, 2);
        push(&mut text, start, 1);
        assert_eq!(text.split_at(start), ("7,12", "2,1"));
    }

    #[test]
    fn a_customer_has_a_number_or_a_name() {
        let mut text = String::new();
        assert_eq!(selected(Selector::Number(5), &mut text), [Value::Int(5), Value::Null]);
        let named = [Value::Null, Value::Text("BARBARBAR")];
        assert_eq!(selected(Selector::LastName(0), &mut text), named);
    }
}
