use super::*;
use crate::rate::Rate;
use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, proptest};
use rand::SeedableRng;

fn curve(rate: f64) -> Curve {
    Curve::new(&Rate::Constant(rate), 0.0)
}

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

fn take(mut schedule: Schedule, count: usize) -> Vec<u64> {
    std::iter::repeat_with(|| schedule.next_ns()).take(count).collect()
}

/// All starts before `end_s`.
fn until(mut schedule: Schedule, end_s: f64) -> Vec<f64> {
    std::iter::repeat_with(|| schedule.next_ns() as f64 / NS)
        .take_while(|at_s| *at_s < end_s)
        .collect()
}

/// Rates that rise and fall, with jumps and periods of zero.
fn points() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let gap = prop::sample::select(vec![0.0, 0.5, 1.0, 2.25]);
    let rate = prop::sample::select(vec![0.0, 0.7, 10.0, 80.0, 300.0]);
    prop::collection::vec((gap, rate), 1..8).prop_map(|steps| {
        let mut at_s = 0.0;
        let point = |(gap, rate): (f64, f64)| {
            at_s += gap;
            (at_s, rate)
        };
        steps.into_iter().map(point).collect()
    })
}

/// The plan's rate at a time after the start of the measurement, computed naively.
fn rate_at(points: &[(f64, f64)], at_s: f64) -> f64 {
    let after = points.iter().position(|(point_s, _)| *point_s > at_s);
    match after {
        Some(0) => points[0].1,
        None => points[points.len() - 1].1,
        Some(next) => {
            let ((from_s, from), (to_s, to)) = (points[next - 1], points[next]);
            from + (to - from) * (at_s - from_s) / (to_s - from_s)
        }
    }
}

/// Its integral by the midpoint rule, which is exact for straight lines.
fn integral(points: &[(f64, f64)], from_s: f64, to_s: f64) -> f64 {
    let mut cuts: Vec<f64> = points.iter().map(|(at_s, _)| at_s.clamp(from_s, to_s)).collect();
    cuts.extend([from_s, to_s]);
    cuts.sort_by(f64::total_cmp);
    let stretch =
        |pair: &[f64]| rate_at(points, f64::midpoint(pair[0], pair[1])) * (pair[1] - pair[0]);
    cuts.windows(2).map(stretch).sum()
}

#[test]
fn fixed_schedules() {
    let table: [(f64, u32, u32, f64, &[u64]); 6] = [
        (1.0, 0, 1, 0.0, &[0, 1_000_000_000, 2_000_000_000]),
        (1000.0, 0, 1, 0.0, &[0, 1_000_000, 2_000_000]),
        (1000.0, 0, 2, 0.0, &[0, 2_000_000, 4_000_000]),
        (1000.0, 1, 2, 0.0, &[1_000_000, 3_000_000, 5_000_000]),
        // The second of two drivers, with one and with two threads: half a gap after the first.
        (1000.0, 0, 1, 0.5, &[500_000, 1_500_000, 2_500_000]),
        (1000.0, 1, 2, 0.5, &[1_500_000, 3_500_000, 5_500_000]),
    ];
    for (rate, share, shares, offset, expected) in table {
        let schedule = Schedule::fixed(curve(rate), share, shares, offset);
        assert_eq!(take(schedule, expected.len()), expected);
    }
}

#[test]
fn closed_starts() {
    assert_eq!(closed_next_ns(5, 0), 5);
    assert_eq!(closed_next_ns(5, 10), 15);
    assert_eq!(closed_next_ns(u64::MAX, 10), u64::MAX);
}

#[test]
fn think_times_have_their_mean_and_their_cap() {
    let mut rng = rng(3);
    let draws = 200_000;
    let sum: u64 = (0..draws).map(|_| think_ns(12.0, rng.random())).sum();
    let mean_s = sum as f64 / f64::from(draws) / NS;
    // Truncation at 10 means removes e^-10 of the mean, too little to see.
    assert!((mean_s - 12.0).abs() < 0.15, "{mean_s}");
    assert_eq!(think_ns(12.0, 1.0 - f64::EPSILON / 2.0), 120_000_000_000);
    assert_eq!(think_ns(12.0, 0.0), 0);
}

proptest! {
    #[test]
    fn a_fixed_schedule_keeps_its_rate_however_long(rate in 0.1f64..100_000.0, skip in 0u64..1_000_000_000) {
        let mut schedule = Schedule::fixed(curve(rate), 0, 1, 0.0);
        if let Arrivals::Fixed { next, .. } = &mut schedule.arrivals { *next = skip; }
        let expected = skip as f64 * NS / rate;
        let seen = schedule.next_ns() as f64;
        prop_assert!((seen - expected).abs() <= 1.0 + expected * 1e-15);
    }

    #[test]
    fn starts_of_any_stretch_are_as_many_as_its_integral(
        points in points(), warmup_s in 0.0f64..3.0, a in 0.0f64..1.0, b in 0.0f64..1.0,
    ) {
        let end_s = points[points.len() - 1].0 + 2.0;
        let curve = Curve::new(&Rate::Points(points.clone()), warmup_s);
        let starts = until(Schedule::fixed(curve, 0, 1, 0.0), warmup_s + end_s);
        let from_s = a.min(b) * (end_s + warmup_s) - warmup_s;
        let to_s = a.max(b) * (end_s + warmup_s) - warmup_s;
        let inside = |at_s: &&f64| (from_s..to_s).contains(&(**at_s - warmup_s));
        let seen = starts.iter().filter(inside).count() as f64;
        let expected = integral(&points, from_s, to_s);
        prop_assert!((seen - expected).abs() <= 1.0 + 1e-6, "{seen} of {expected}");
    }

    #[test]
    fn shares_make_up_the_whole_and_keep_their_order(points in points(), shares in 1u32..8) {
        let end_s = points[points.len() - 1].0 + 2.0;
        let curve = Curve::new(&Rate::Points(points), 0.5);
        let whole = until(Schedule::fixed(curve.clone(), 0, 1, 0.0), end_s);
        let mut parts = Vec::new();
        for share in 0..shares {
            let part = until(Schedule::fixed(curve.clone(), share, shares, 0.0), end_s);
            prop_assert!(part.is_sorted());
            parts.extend(part);
        }
        parts.sort_by(f64::total_cmp);
        prop_assert!(whole.is_sorted());
        prop_assert_eq!(whole, parts);
    }

    #[test]
    fn a_poisson_schedule_follows_its_rate(points in points(), shares in 1u32..4, seed in any::<u64>()) {
        let end_s = points[points.len() - 1].0 + 2.0;
        let curve = Curve::new(&Rate::Points(points.clone()), 1.0);
        let starts: usize = (0..shares)
            .map(|share| {
                let rng = rng(seed ^ u64::from(share));
                let starts = until(Schedule::poisson(curve.clone(), shares, rng), end_s + 1.0);
                assert!(starts.is_sorted());
                starts.len()
            })
            .sum();
        let expected = integral(&points, -1.0, end_s);
        let deviations = (starts as f64 - expected).abs() / expected.sqrt().max(1.0);
        prop_assert!(deviations < 7.0, "{starts} of {expected}");
    }

    #[test]
    fn poisson_gaps_have_their_mean_and_deviation(rate in 10.0f64..10_000.0, seed in any::<u64>()) {
        let starts = take(Schedule::poisson(curve(rate), 1, rng(seed)), 20_000);
        let gaps: Vec<f64> = starts.windows(2).map(|pair| (pair[1] - pair[0]) as f64 * rate / NS).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        prop_assert!((mean - 1.0).abs() < 0.06, "mean {mean}");
        prop_assert!((variance.sqrt() - 1.0).abs() < 0.1, "deviation {}", variance.sqrt());
    }
}
