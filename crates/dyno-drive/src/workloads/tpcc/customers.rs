//! Finds customers by number or by name, for Payment and Order-Status.

use dyno_gen::tpcc::nurand::push_last_name;
use dyno_record::{Error, ErrorKind, Result};

use super::inputs::{Customer, Selector};
use crate::wire::{Session, Slot, StatementId, Value};

/// Queues the statement that finds `customer`, by number or by name. `name` is scratch space.
pub fn queue<S: Session>(
    session: &mut S,
    by_number: StatementId,
    by_name: StatementId,
    customer: &Customer,
    name: &mut String,
) -> Slot {
    let (warehouse, district) = (Value::Int(customer.warehouse), Value::Int(customer.district));
    match customer.selector {
        Selector::Number(number) => {
            session.queue(by_number, &[warehouse, district, Value::Int(number)])
        }
        Selector::LastName(number) => {
            name.clear();
            push_last_name(number, name);
            session.queue(by_name, &[warehouse, district, Value::Text(name)])
        }
    }
}

/// The selected row of those found: of n customers with the name, ordered by first name, number
/// ⌈n/2⌉ (TPC-C specification, clause 2.5.2.2).
pub fn pick<S: Session>(session: &S, slot: Slot) -> Result<usize> {
    match session.rows(slot) {
        0 => Err(Error::new(
            ErrorKind::Database,
            "a customer is missing: check that the data is complete and the number of \
             warehouses correct",
        )),
        count => Ok(middle(count)),
    }
}

/// Index, from 0, of row ⌈n/2⌉ of n.
const fn middle(count: usize) -> usize {
    count.div_ceil(2) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_row_rounds_up() {
        assert_eq!([1, 2, 3, 4, 5].map(middle), [0, 0, 1, 1, 2]);
    }
}
