//! The TPC-C-derived workload: five transactions, each in its own file, as statements over a
//! [`Session`]; in procedure mode, each as one call. Derived from TPC-C; not comparable with
//! published TPC results.

mod customers;
mod deck;
mod delivery;
mod dialects;
mod home;
mod inputs;
mod new_order;
mod order_status;
mod payment;
mod procedures;
mod statements;
mod stock_level;

use std::sync::Arc;

use dyno_record::{Error, ErrorKind, Result, derive_seed};
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use crate::pacer::think_ns;
use crate::wire::{Dialect, Session, Statement};
use crate::workloads::contract::{self, Terminal, TxnOutcome, Workload};
use crate::workloads::mode::Mode;
use deck::{Deck, Kind};
use inputs::{Constants, Inputs};

pub use home::Policy as HomePolicy;

/// The workload's parameters.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Number of warehouses.
    pub warehouses: u32,
    /// The constant C of the loaded last names.
    pub c_load: u8,
    /// How users choose their warehouse.
    #[serde(default)]
    pub home: HomePolicy,
    /// Where the transactions run.
    #[serde(default)]
    pub mode: Mode,
}

impl contract::Params for Params {
    type Workload = Arc<Tpcc>;

    fn workload(&self, seed: u64) -> Result<Arc<Tpcc>> {
        let warehouses = i32::try_from(self.warehouses).ok().filter(|count| *count > 0);
        let warehouses = warehouses.ok_or_else(|| {
            let message =
                format!("warehouses is {}; it must be 1 to {}", self.warehouses, i32::MAX);
            Error::new(ErrorKind::Usage, message)
        })?;
        let mut rng = stream(seed, 0, "constants");
        let constants = Constants::draw(i32::from(self.c_load), &mut rng);
        let Self { home, mode, .. } = *self;
        Ok(Arc::new(Tpcc { seed, warehouses, home, mode, constants }))
    }
}

/// The workload for a database of a given size.
#[derive(Debug, Clone)]
pub struct Tpcc {
    seed: u64,
    warehouses: i32,
    home: HomePolicy,
    mode: Mode,
    constants: Constants,
}

impl Tpcc {
    const NAME: &str = "tpcc";
}

impl Workload for Arc<Tpcc> {
    type Terminal = TpccTerminal;

    fn name(&self) -> &'static str {
        Tpcc::NAME
    }

    fn operations(&self) -> &'static [&'static str] {
        &deck::NAMES
    }

    fn statements(&self, dialect: Dialect) -> Vec<Statement> {
        match self.mode {
            Mode::Client => dialects::put(dialect, statements::all()),
            Mode::Procedure => procedures::all(dialect),
        }
    }

    fn terminal(&self, user: u32) -> TpccTerminal {
        let home = home::Home::new(self.home, user, self.warehouses);
        let inputs = stream(self.seed, user, "inputs");
        TpccTerminal {
            inputs: Inputs::new(inputs, self.constants, self.warehouses, home),
            thinking: stream(self.seed, user, "think"),
            deck: Deck::new(),
            mode: self.mode,
            drawn: None,
            previous: None,
            text: String::new(),
        }
    }
}

/// The random number stream of a user for a purpose.
fn stream(seed: u64, user: u32, purpose: &str) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(derive_seed(seed, Tpcc::NAME, user.into(), purpose))
}

/// One user.
#[derive(Debug)]
pub struct TpccTerminal {
    inputs: Inputs,
    thinking: Xoshiro256PlusPlus,
    deck: Deck,
    mode: Mode,
    drawn: Option<Drawn>,
    previous: Option<Kind>,
    /// Reused for composed texts.
    text: String,
}

/// A transaction with its inputs.
#[derive(Debug, Clone, Copy)]
enum Drawn {
    NewOrder(inputs::NewOrder),
    Payment(inputs::Payment),
    OrderStatus(inputs::Customer),
    Delivery(inputs::Delivery),
    StockLevel(inputs::StockLevel),
}

impl Drawn {
    const fn kind(&self) -> Kind {
        match self {
            Self::NewOrder(_) => Kind::NewOrder,
            Self::Payment(_) => Kind::Payment,
            Self::OrderStatus(_) => Kind::OrderStatus,
            Self::Delivery(_) => Kind::Delivery,
            Self::StockLevel(_) => Kind::StockLevel,
        }
    }
}

impl Terminal for TpccTerminal {
    fn draw(&mut self) -> usize {
        self.previous = self.drawn.map(|drawn| drawn.kind());
        let kind = self.deck.deal(&mut self.inputs.rng);
        self.drawn = Some(match kind {
            Kind::NewOrder => Drawn::NewOrder(self.inputs.new_order()),
            Kind::Payment => Drawn::Payment(self.inputs.payment()),
            Kind::OrderStatus => Drawn::OrderStatus(self.inputs.order_status()),
            Kind::Delivery => Drawn::Delivery(self.inputs.delivery()),
            Kind::StockLevel => Drawn::StockLevel(self.inputs.stock_level()),
        });
        kind as usize
    }

    fn pause_ns(&mut self) -> u64 {
        let seconds = |kind: Kind| deck::PAUSES_S[kind as usize];
        let (keying_s, _) = self.drawn.map_or((0.0, 0.0), |drawn| seconds(drawn.kind()));
        // New users have nothing to think about. They think anyway, so that they do not all start
        // at once.
        let (_, think_s) = seconds(self.previous.unwrap_or(Kind::NewOrder));
        (keying_s * 1e9) as u64 + think_ns(think_s, self.thinking.random())
    }

    async fn attempt<S: Session>(&mut self, session: &mut S, unix_us: i64) -> Result<TxnOutcome> {
        match &self.drawn {
            Some(drawn) if self.mode == Mode::Procedure => {
                procedures::call(session, drawn, unix_us, &mut self.text).await
            }
            Some(Drawn::NewOrder(input)) => new_order::run(session, input, unix_us).await,
            Some(Drawn::Payment(input)) => {
                payment::run(session, input, unix_us, &mut self.text).await
            }
            Some(Drawn::OrderStatus(input)) => {
                order_status::run(session, input, &mut self.text).await
            }
            Some(Drawn::Delivery(input)) => delivery::run(session, input, unix_us).await,
            Some(Drawn::StockLevel(input)) => stock_level::run(session, input).await,
            None => Err(Error::new(ErrorKind::Internal, "no transaction was drawn")),
        }
    }
}

#[cfg(test)]
mod streams_tests;

#[cfg(test)]
const PARAMS: Params =
    Params { warehouses: 5, c_load: 100, home: HomePolicy::Random, mode: Mode::Client };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::contract::Params as _;

    fn drawn(seed: u64, user: u32) -> Vec<String> {
        let workload = PARAMS.workload(seed).unwrap();
        let mut terminal = workload.terminal(user);
        std::iter::repeat_with(|| {
            terminal.draw();
            format!("{:?}", terminal.drawn)
        })
        .take(100)
        .collect()
    }

    #[test]
    fn a_seed_and_a_user_determine_all_inputs() {
        assert_eq!(drawn(1, 0), drawn(1, 0));
        assert_ne!(drawn(1, 0), drawn(1, 1));
        assert_ne!(drawn(1, 0), drawn(2, 0));
    }

    #[test]
    fn pauses_are_keying_and_thinking() {
        let workload = PARAMS.workload(1).unwrap();
        let mut terminal = workload.terminal(0);
        for _ in 0..200 {
            let next = terminal.draw();
            let keying_ns = (deck::PAUSES_S[next].0 * 1e9) as u64;
            let pause_ns = terminal.pause_ns();
            assert!((keying_ns..=keying_ns + 120_000_000_000).contains(&pause_ns));
        }
    }

    #[test]
    fn no_warehouse_is_no_workload() {
        let none = Params { warehouses: 0, ..PARAMS };
        assert_eq!(none.workload(1).unwrap_err().kind, ErrorKind::Usage);
    }
}
