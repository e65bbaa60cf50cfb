use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore as _, SeedableRng as _};

use super::*;

/// A simulated device: I/Os per second at a depth, and latency by Little's law.
#[derive(Debug, Clone, Copy)]
struct Device {
    /// I/Os per second at depth 1, and the maximum.
    one: f64,
    most: f64,
    /// Sharpness of the bend: 1 is soft, large is a knee.
    bend: f64,
    /// Depth from which throughput falls, in proportion to depth^-fall.
    overload: (f64, f64),
}

impl Device {
    fn iops(self, depth: f64) -> f64 {
        let linear = self.one * depth;
        let bent = (linear.powf(-self.bend) + self.most.powf(-self.bend)).powf(-1.0 / self.bend);
        let (from, fall) = self.overload;
        bent * (depth / from).max(1.0).powf(-fall)
    }

    fn latency_ms(self, depth: f64) -> f64 {
        depth / self.iops(depth) * 1e3
    }
}

struct Searched {
    found: Found,
    tried: Vec<Tried>,
}

/// Runs a search with uniform noise of at most `noise` in each measurement.
fn search(rules: &Rules, device: Device, ceiling_ms: f64, noise: f64, seed: u64) -> Searched {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut off = move || 1.0 + noise * ((rng.next_u64() as f64 / u64::MAX as f64) * 2.0 - 1.0);
    run(rules, |load| (device.iops(load) * off(), device.latency_ms(load) * off() <= ceiling_ms))
}

fn run(rules: &Rules, mut window: impl FnMut(f64) -> (f64, bool)) -> Searched {
    let mut tried = Vec::new();
    loop {
        match next(rules, &tried) {
            Next::End(found) => return Searched { found, tried },
            Next::Try(load, purpose) => {
                assert!(load >= rules.start && load <= rules.most, "{load}");
                assert!(tried.len() < rules.most_windows(), "more than it said: {tried:?}");
                let (iops, inside) = window(load);
                tried.push(Tried { load, purpose, iops, inside });
            }
        }
    }
}

fn depths(most: f64) -> Rules {
    Rules { start: 1.0, most, whole: true, resolution: 0.05, confirm: 2 }
}

/// The best result within the ceiling, among all depths that stay within it despite noise.
fn exhaustive(device: Device, ceiling_ms: f64) -> Option<f64> {
    let all = (1..=256).map(f64::from).filter(|depth| device.latency_ms(*depth) <= ceiling_ms);
    all.map(|depth| device.iops(depth)).reduce(f64::max)
}

#[test]
fn the_best_is_that_of_all_depths_in_a_fifth_of_their_time() {
    let mut seed = 0;
    for bend in [1.0, 2.0, 4.0, 50.0] {
        for knee in [1.5, 6.0, 20.0, 90.0, 1000.0] {
            for overload in [(1e9, 0.0), (3.0, 0.3), (11.0, 1.0), (13.0, 0.1), (50.0, 2.0)] {
                for ceiling_ms in [0.3, 1.0, 5.0, 20.0, 1000.0] {
                    for noise in [0.0, 0.03] {
                        seed += 1;
                        let device = Device { one: 5000.0, most: 5000.0 * knee, bend, overload };
                        let Searched { found, tried } =
                            search(&depths(256.0), device, ceiling_ms, noise, seed);
                        let case = format!("{device:?}, {ceiling_ms} ms, {noise}: {found:?}");
                        let Some(most) = exhaustive(device, ceiling_ms / (1.0 + noise)) else {
                            assert!(found.best.is_none_or(|best| best < 1.5), "{case}");
                            continue;
                        };
                        let best = found.best.unwrap_or_else(|| panic!("{case}"));
                        assert!(device.iops(best) >= 0.95 * most, "{case} of {most}: {tried:?}");
                        assert!(device.latency_ms(best) <= ceiling_ms * 1.031, "{case}");
                        assert!(found.confirmed, "{case}: {tried:?}");
                        assert!(tried.len() <= 256 / 5, "{case}: {} windows", tried.len());
                    }
                }
            }
        }
    }
}

#[test]
fn a_flat_curve_takes_few_windows_and_the_least_depth() {
    let Searched { found, tried } = run(&depths(256.0), |depth| (depth.min(4.0) * 1000.0, true));
    assert_eq!(
        found,
        Found { best: Some(4.0), outside: None, confirmed: true, stopped: Stopped::Saturated }
    );
    let loads: Vec<f64> = tried.iter().map(|window| window.load).collect();
    // The bend is at 4, so nothing can lie between 2, 4 and 8.
    assert_eq!(loads, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 4.0, 4.0]);
}

#[test]
fn the_edge_of_the_ceiling_is_found_to_the_resolution() {
    let device = Device { one: 1000.0, most: 1e9, bend: 1.0, overload: (1e9, 0.0) };
    for limit in [1.0, 2.0, 3.0, 17.0, 40.0, 100.0, 255.0] {
        let Searched { found, .. } =
            run(&depths(256.0), |depth| (device.iops(depth), depth <= limit));
        let (best, outside) = (found.best.unwrap(), found.outside.unwrap());
        assert!(best <= limit && limit < outside, "{found:?}");
        assert!(outside <= (best * 1.05).max(best + 1.0), "{found:?}");
        assert_eq!((found.stopped, found.confirmed), (Stopped::Resolution, true));
    }
    let Searched { found, .. } = run(&depths(64.0), |depth| (device.iops(depth), true));
    assert_eq!((found.best, found.outside, found.stopped), (Some(64.0), None, Stopped::Most));
}

#[test]
fn a_search_over_rates_ends_close_to_what_is_possible() {
    let rules = Rules { start: 100.0, most: 1e6, whole: false, resolution: 0.05, confirm: 2 };
    for possible in [150.0, 3333.0, 77_777.0] {
        let Searched { found, tried } =
            run(&rules, |rate| (rate.min(possible), rate <= possible * 0.98));
        let best = found.best.unwrap();
        assert!(best <= possible * 0.98 && best >= possible * 0.98 / 1.06, "{found:?}");
        assert_eq!(found.stopped, Stopped::Resolution);
        assert!(tried.len() < 25, "{tried:?}");
    }
}

#[test]
fn one_pause_anywhere_changes_nothing() {
    for (knee, bend, ceiling_ms) in
        [(64.0, 4.0, 1000.0), (20.0, 4.0, 5.0), (20.0, 1.0, 2.0), (90.0, 50.0, 1.0)]
    {
        let device = Device { one: 5000.0, most: 5000.0 * knee, bend, overload: (1e9, 0.0) };
        let most = exhaustive(device, ceiling_ms).unwrap();
        let rules = depths(256.0);
        let calm = run(&rules, |load| (device.iops(load), device.latency_ms(load) <= ceiling_ms));
        for pause in 0..calm.tried.len() {
            let mut count = 0;
            let Searched { found, tried } = run(&rules, |load| {
                count += 1;
                (device.iops(load), count != pause + 1 && device.latency_ms(load) <= ceiling_ms)
            });
            let case = format!("{device:?}, pause {pause}: {found:?}, {tried:?}");
            assert!(device.iops(found.best.unwrap()) >= 0.95 * most, "{case}");
            assert!(found.confirmed && tried.len() <= calm.tried.len() + 8, "{case}");
        }
    }
}

#[test]
fn a_load_that_was_outside_once_is_tried_again_after_the_narrowing() {
    let device = Device { one: 1000.0, most: 64_000.0, bend: 4.0, overload: (1e9, 0.0) };
    let mut count = 0;
    let Searched { found, tried } = run(&depths(4.0), |depth| {
        count += 1;
        (device.iops(depth), count != 3)
    });
    let first: Vec<f64> = tried.iter().take(6).map(|window| window.load).collect();
    // Once within the ceiling and once above: a third window decides.
    assert_eq!(first, [1.0, 2.0, 4.0, 3.0, 4.0, 4.0], "{tried:?}");
    assert_eq!((found.best, found.confirmed, found.outside), (Some(4.0), true, None));
}

#[test]
fn the_next_best_is_confirmed_if_two_confirming_windows_are_outside() {
    let device = Device { one: 1000.0, most: 64_000.0, bend: 4.0, overload: (1e9, 0.0) };
    let mut at_32 = 0;
    let Searched { found, tried } = run(&depths(32.0), |depth| {
        at_32 += u32::from(depth > 31.5);
        (device.iops(depth), depth < 32.0 || at_32 == 1)
    });
    let confirmed = tried.iter().filter(|window| window.purpose == Purpose::Confirm);
    let confirmed: Vec<f64> = confirmed.map(|window| window.load).collect();
    // Nothing was tried between 16 and 32, so the search tries the next best there first.
    assert_eq!(confirmed, [32.0, 32.0, 31.0, 31.0], "{tried:?}");
    assert_eq!((found.best, found.confirmed), (Some(31.0), true));
    assert_eq!((found.outside, found.stopped), (Some(32.0), Stopped::Resolution));

    let never = run(&depths(32.0), |depth| (device.iops(depth), false));
    assert_eq!(never.tried.len(), 3);
    assert_eq!((never.found.best, never.found.stopped), (None, Stopped::NoneInside));

    let mut seen = std::collections::BTreeSet::new();
    let hopeless = run(&depths(256.0), |depth| (device.iops(depth), seen.insert(depth as u64)));
    assert!(!hopeless.found.confirmed, "{:?}", hopeless.found);
}

#[test]
fn a_search_without_confirmation_says_so() {
    let rules = Rules { confirm: 0, ..depths(8.0) };
    let Searched { found, tried } = run(&rules, |depth| (depth * 100.0, true));
    assert_eq!((found.best, found.confirmed), (Some(8.0), false));
    assert!(tried.iter().all(|window| window.purpose != Purpose::Confirm));
}
