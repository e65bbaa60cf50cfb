//! User inputs: TPC-C's input generation (specification, clauses 2.1.6 and 2.4 to 2.8).

use dyno_gen::tpcc::nurand::{A_LAST_NAME, LAST_NAMES, nurand};
use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::home::Home;

/// Districts per warehouse.
pub const DISTRICTS: i32 = 10;
/// Customers per district.
pub const CUSTOMERS: i32 = 3_000;
/// Number of items.
pub const ITEMS: i32 = 100_000;
/// An unused item number, for orders that are to be rolled back.
pub const UNUSED_ITEM: i32 = ITEMS + 1;
/// Maximum lines of an order.
pub const MOST_LINES: usize = 15;

/// The constants C of the non-uniform distributions, fixed for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constants {
    /// For customers' last names.
    pub last_name: i32,
    /// For customer numbers.
    pub customer: i32,
    /// For item numbers.
    pub item: i32,
}

impl Constants {
    /// Draws constants for a run on data loaded with `c_load` for last names: their difference is
    /// in 65 to 119, but not 96 or 112 (clause 2.1.6.1).
    pub fn draw(c_load: i32, rng: &mut Xoshiro256PlusPlus) -> Self {
        let legal = |c_run: &i32| {
            let delta = (c_run - c_load).abs();
            (65..=119).contains(&delta) && delta != 96 && delta != 112
        };
        let candidates: Vec<i32> = (0..=A_LAST_NAME).filter(legal).collect();
        Self {
            // Every load constant in 0..=255 leaves candidates: 255 - 119 > 0 and 0 + 119 < 255.
            last_name: candidates[rng.random_range(0..candidates.len())],
            customer: rng.random_range(0..=A_CUSTOMER),
            item: rng.random_range(0..=A_ITEM),
        }
    }
}

/// `A` of the customer and item numbers (clause 2.1.6).
const A_CUSTOMER: i32 = 1_023;
const A_ITEM: i32 = 8_191;

/// How a customer is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selector {
    /// By number.
    Number(i32),
    /// By the number of the last name, 0 to 999.
    LastName(i32),
}

/// A customer in any district.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Customer {
    /// Warehouse of the customer.
    pub warehouse: i32,
    /// District of the customer.
    pub district: i32,
    /// How to select the customer in the district.
    pub selector: Selector,
}

/// A line of an order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Line {
    /// Item ordered.
    pub item: i32,
    /// Warehouse that supplies it.
    pub supply_warehouse: i32,
    /// Quantity, 1 to 10.
    pub quantity: i32,
}

/// A New-Order's inputs.
#[derive(Debug, Clone, Copy)]
pub struct NewOrder {
    /// Home warehouse.
    pub warehouse: i32,
    /// District of the order.
    pub district: i32,
    /// Customer who orders.
    pub customer: i32,
    /// Whether the last line has an unused item, so that the order is rolled back.
    pub rolls_back: bool,
    count: usize,
    lines: [Line; MOST_LINES],
}

impl NewOrder {
    /// The lines, 5 to 15.
    pub fn lines(&self) -> &[Line] {
        &self.lines[..self.count]
    }
}

/// A Payment's inputs.
#[derive(Debug, Clone, Copy)]
pub struct Payment {
    /// Warehouse where the payment is made.
    pub warehouse: i32,
    /// District where the payment is made.
    pub district: i32,
    /// The paying customer; 15 % belong to another warehouse.
    pub customer: Customer,
    /// Amount in hundredths, 1.00 to 5,000.00.
    pub cents: i64,
}

/// A Delivery's inputs.
#[derive(Debug, Clone, Copy)]
pub struct Delivery {
    /// Warehouse that delivers.
    pub warehouse: i32,
    /// Carrier, 1 to 10.
    pub carrier: i32,
}

/// A Stock-Level's inputs.
#[derive(Debug, Clone, Copy)]
pub struct StockLevel {
    /// Home warehouse.
    pub warehouse: i32,
    /// District to examine.
    pub district: i32,
    /// Stock below this counts as low, 10 to 20.
    pub threshold: i32,
}

/// Draws inputs for a user.
#[derive(Debug, Clone)]
pub struct Inputs {
    /// The user's random numbers.
    pub rng: Xoshiro256PlusPlus,
    constants: Constants,
    warehouses: i32,
    home: Home,
}

impl Inputs {
    /// Creates inputs for a user at `home`.
    pub fn new(rng: Xoshiro256PlusPlus, constants: Constants, warehouses: i32, home: Home) -> Self {
        Self { rng, constants, warehouses, home }
    }

    /// Clause 2.4.1.
    pub fn new_order(&mut self) -> NewOrder {
        let (warehouse, district) = self.place();
        let customer = nurand(&mut self.rng, A_CUSTOMER, self.constants.customer, 1, CUSTOMERS);
        let count = self.rng.random_range(5..=MOST_LINES);
        let rolls_back = self.rng.random_range(1..=100) == 1;
        let mut lines = [Line::default(); MOST_LINES];
        for line in &mut lines[..count] {
            let remote = self.warehouses > 1 && self.rng.random_range(1..=100) == 1;
            *line = Line {
                item: nurand(&mut self.rng, A_ITEM, self.constants.item, 1, ITEMS),
                supply_warehouse: if remote { self.other(warehouse) } else { warehouse },
                quantity: self.rng.random_range(1..=10),
            };
        }
        if rolls_back {
            lines[count - 1].item = UNUSED_ITEM;
        }
        NewOrder { warehouse, district, customer, rolls_back, count, lines }
    }

    /// Clause 2.5.1.
    pub fn payment(&mut self) -> Payment {
        let (warehouse, district) = self.place();
        let remote = self.warehouses > 1 && self.rng.random_range(1..=100) > 85;
        let (home, at) = if remote {
            (self.other(warehouse), self.rng.random_range(1..=DISTRICTS))
        } else {
            (warehouse, district)
        };
        let selector = self.selector();
        let customer = Customer { warehouse: home, district: at, selector };
        Payment { warehouse, district, customer, cents: self.rng.random_range(100..=500_000) }
    }

    /// Clause 2.6.1.
    pub fn order_status(&mut self) -> Customer {
        let (warehouse, district) = self.place();
        Customer { warehouse, district, selector: self.selector() }
    }

    /// Clause 2.7.1.
    pub fn delivery(&mut self) -> Delivery {
        let (warehouse, _) = self.place();
        Delivery { warehouse, carrier: self.rng.random_range(1..=10) }
    }

    /// Clause 2.8.1, with a district drawn each time.
    pub fn stock_level(&mut self) -> StockLevel {
        let (warehouse, district) = self.place();
        StockLevel { warehouse, district, threshold: self.rng.random_range(10..=20) }
    }

    fn place(&mut self) -> (i32, i32) {
        (self.home.next(&mut self.rng), self.rng.random_range(1..=DISTRICTS))
    }

    fn selector(&mut self) -> Selector {
        if self.rng.random_range(1..=100) <= 60 {
            Selector::LastName(nurand(
                &mut self.rng,
                A_LAST_NAME,
                self.constants.last_name,
                0,
                LAST_NAMES - 1,
            ))
        } else {
            Selector::Number(nurand(
                &mut self.rng,
                A_CUSTOMER,
                self.constants.customer,
                1,
                CUSTOMERS,
            ))
        }
    }

    /// Any warehouse except `home`.
    fn other(&mut self, home: i32) -> i32 {
        let drawn = self.rng.random_range(1..self.warehouses);
        if drawn >= home { drawn + 1 } else { drawn }
    }
}

#[cfg(test)]
#[path = "inputs_tests.rs"]
mod tests;
