//! Users' random numbers: runs with adjacent seeds share none.

use std::collections::HashMap;

use rand::Rng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{PARAMS, TpccTerminal};
use crate::workloads::contract::{Params as _, Terminal as _, Workload as _};

const SEEDS: u64 = 64;
const USERS: u32 = 64;

fn terminal(seed: u64, user: u32) -> TpccTerminal {
    PARAMS.workload(seed).unwrap().terminal(user)
}

#[test]
fn no_two_streams_of_neighbouring_seeds_coincide() {
    let mut seen = HashMap::new();
    for seed in 1..=SEEDS {
        for user in 0..USERS {
            let terminal = terminal(seed, user);
            for (purpose, rng) in [("inputs", &terminal.inputs.rng), ("think", &terminal.thinking)]
            {
                let state = format!("{rng:?}");
                let before = seen.insert(state, (seed, user, purpose));
                assert_eq!(before, None, "and seed {seed}, user {user}, {purpose}");
            }
        }
    }
}

#[test]
fn no_two_users_of_neighbouring_seeds_enter_the_same() {
    let mut seen = HashMap::new();
    for seed in 1..=16 {
        for user in 0..16 {
            let mut terminal = terminal(seed, user);
            let entered: Vec<String> = std::iter::repeat_with(|| {
                terminal.draw();
                format!("{:?}", terminal.drawn)
            })
            .take(10)
            .collect();
            let before = seen.insert(entered, (seed, user));
            assert_eq!(before, None, "and seed {seed}, user {user}");
        }
    }
}

#[test]
fn thinking_does_not_change_what_is_entered() {
    let entered = |thinks: bool| -> Vec<String> {
        let mut terminal = terminal(1, 0);
        let mut draw = || {
            terminal.draw();
            if thinks {
                terminal.pause_ns();
            }
            format!("{:?}", terminal.drawn)
        };
        (0..50).map(|_| draw()).collect()
    };
    assert_eq!(entered(true), entered(false));
}

/// Pearson's correlation coefficient of `count` uniform draws from each.
fn correlation(mut one: Xoshiro256PlusPlus, mut other: Xoshiro256PlusPlus, count: u32) -> f64 {
    let sum: f64 =
        (0..count).map(|_| (one.random::<f64>() - 0.5) * (other.random::<f64>() - 0.5)).sum();
    sum * 12.0 / f64::from(count)
}

#[test]
fn neighbouring_streams_are_not_correlated() {
    const DRAWS: u32 = 4_000;
    let of = |seed, user| terminal(seed, user).inputs.rng;
    let mut coefficients = Vec::new();
    for seed in 1..24 {
        for user in 1..24 {
            for (next, neighbour) in [(seed, user + 1), (seed + 1, user), (seed + 1, user - 1)] {
                coefficients.push(correlation(of(seed, user), of(next, neighbour), DRAWS));
            }
        }
    }
    // The mean of many is near 0, and their spread that of independent streams, 1/sqrt(n).
    let count = coefficients.len() as f64;
    let spread = 1.0 / f64::from(DRAWS).sqrt();
    let mean = coefficients.iter().sum::<f64>() / count;
    let variance = coefficients.iter().map(|each| each * each).sum::<f64>() / count;
    assert!(mean.abs() < 4.0 * spread / count.sqrt(), "mean {mean}");
    assert!((variance.sqrt() / spread - 1.0).abs() < 0.1, "spread {}", variance.sqrt());
    assert!(coefficients.iter().all(|each| each.abs() < 5.0 * spread));
}
