use super::*;
use crate::workloads::tpcc::home::Policy;
use proptest::prelude::{any, prop_assert, proptest};
use rand::SeedableRng;

fn inputs(seed: u64, warehouses: i32) -> Inputs {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let constants = Constants::draw(100, &mut rng);
    Inputs::new(rng, constants, warehouses, Home::new(Policy::Random, 0, warehouses))
}

/// Whether `hits` of `draws` is within five standard deviations of the share `expected`.
fn is_share(hits: usize, draws: usize, expected: f64) -> bool {
    let draws = draws as f64;
    let deviation = (expected * (1.0 - expected) / draws).sqrt();
    (hits as f64 / draws - expected).abs() < 5.0 * deviation
}

#[test]
fn every_load_constant_has_legal_run_constants() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for c_load in 0..=255 {
        for _ in 0..50 {
            let delta = (Constants::draw(c_load, &mut rng).last_name - c_load).abs();
            assert!((65..=119).contains(&delta) && delta != 96 && delta != 112);
        }
    }
}

#[test]
fn one_order_in_a_hundred_is_rolled_back_by_its_last_line() {
    let mut inputs = inputs(2, 5);
    let draws = 100_000;
    let mut rollbacks = 0;
    for _ in 0..draws {
        let order = inputs.new_order();
        let (last, others) = order.lines().split_last().unwrap();
        assert!(others.iter().all(|line| (1..=ITEMS).contains(&line.item)));
        assert_eq!(last.item == UNUSED_ITEM, order.rolls_back);
        rollbacks += usize::from(order.rolls_back);
    }
    assert!(is_share(rollbacks, draws, 0.01), "{rollbacks}");
}

#[test]
fn one_line_in_a_hundred_is_supplied_from_elsewhere() {
    let mut inputs = inputs(3, 4);
    let (mut lines, mut remote, mut seen) = (0, 0, [false; 5]);
    for _ in 0..30_000 {
        let order = inputs.new_order();
        for line in order.lines() {
            lines += 1;
            if line.supply_warehouse != order.warehouse {
                remote += 1;
                seen[line.supply_warehouse as usize] = true;
            }
        }
    }
    assert!(is_share(remote, lines, 0.01), "{remote} of {lines}");
    assert_eq!(seen, [false, true, true, true, true]);
}

#[test]
fn payments_have_their_shares_of_remote_customers_and_names() {
    let mut inputs = inputs(4, 3);
    let draws = 50_000;
    let (mut remote, mut named) = (0, 0);
    for _ in 0..draws {
        let payment = inputs.payment();
        assert!((100..=500_000).contains(&payment.cents));
        if payment.customer.warehouse == payment.warehouse {
            assert_eq!(payment.customer.district, payment.district);
        } else {
            remote += 1;
        }
        named += usize::from(matches!(payment.customer.selector, Selector::LastName(_)));
    }
    assert!(is_share(remote, draws, 0.15), "{remote}");
    assert!(is_share(named, draws, 0.60), "{named}");
}

#[test]
fn a_single_warehouse_has_nothing_remote() {
    let mut inputs = inputs(5, 1);
    for _ in 0..5_000 {
        assert!(inputs.new_order().lines().iter().all(|line| line.supply_warehouse == 1));
        assert_eq!(inputs.payment().customer.warehouse, 1);
    }
}

proptest! {
    #[test]
    fn inputs_stay_in_range(seed in any::<u64>(), warehouses in 1i32..50) {
        let mut inputs = inputs(seed, warehouses);
        let order = inputs.new_order();
        prop_assert!((5..=15).contains(&order.lines().len()));
        prop_assert!((1..=warehouses).contains(&order.warehouse));
        prop_assert!((1..=DISTRICTS).contains(&order.district));
        prop_assert!((1..=CUSTOMERS).contains(&order.customer));
        for line in order.lines() {
            prop_assert!((1..=10).contains(&line.quantity));
            prop_assert!((1..=warehouses).contains(&line.supply_warehouse));
        }
        let customer = inputs.order_status();
        let in_range = match customer.selector {
            Selector::Number(number) => (1..=CUSTOMERS).contains(&number),
            Selector::LastName(name) => (0..=999).contains(&name),
        };
        prop_assert!(in_range, "{:?}", customer);
        prop_assert!((1..=10).contains(&inputs.delivery().carrier));
        prop_assert!((10..=20).contains(&inputs.stock_level().threshold));
    }
}
