//! Whether a series of windows has become steady: a pure decision.

use crate::plan::Settle;

/// Whether the last values of `iops` are steady according to `rules`.
pub(crate) fn settled(iops: &[f64], rules: &Settle) -> bool {
    let Some(from) = iops.len().checked_sub(rules.rounds) else { return false };
    let last = &iops[from..];
    let count = last.len() as f64;
    let mean = last.iter().sum::<f64>() / count;
    let within = |change: f64, percent: f64| change <= mean * percent / 100.0;
    let (low, high) =
        last.iter().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(*x), high.max(*x)));
    mean > 0.0
        && within(high - low, rules.within_percent)
        && within((slope(last, mean) * (count - 1.0)).abs(), rules.slope_percent)
}

/// Slope of the least-squares line through `values` at 0, 1, 2 …
fn slope(values: &[f64], mean: f64) -> f64 {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let (mut product, mut square) = (0.0, 0.0);
    for (at, value) in values.iter().enumerate() {
        let x = at as f64 - middle;
        product += x * (value - mean);
        square += x * x;
    }
    product / square
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_fresh_device_that_slows_down_is_not_steady_until_it_has() {
        let rules = Settle::default();
        let iops = |round: usize| 40_000.0 + 60_000.0 * 0.5_f64.powi(round as i32);
        let series: Vec<f64> = (0..20).map(iops).collect();
        let first = (0..=series.len()).find(|count| settled(&series[..*count], &rules)).unwrap();
        // Windows 3 to 7: the range is 7,031 at a mean of 42,906, 16 %, and the line falls by 14 %.
        // Windows 4 to 8: it falls by 7 %.
        assert_eq!(first, 9);
    }

    #[test]
    fn few_rounds_or_none_at_all_are_not_steady() {
        let rules = Settle::default();
        assert!(!settled(&[], &rules));
        assert!(!settled(&[5.0; 4], &rules));
        assert!(settled(&[5.0; 5], &rules));
        assert!(!settled(&[0.0; 5], &rules), "nothing ended");
    }

    #[test]
    fn swings_without_a_trend_are_judged_by_their_range() {
        let rules = Settle::default();
        assert!(settled(&[109.0, 91.0, 100.0, 91.0, 109.0], &rules));
        assert!(!settled(&[111.0, 89.0, 100.0, 89.0, 111.0], &rules));
    }

    proptest! {
        #[test]
        fn a_straight_line_is_judged_by_its_rise(
            rise in -30.0f64..30.0, mean in 1.0f64..1e6, rounds in 2usize..20,
        ) {
            prop_assume!((rise.abs() - 10.0).abs() > 1e-6);
            let rules = Settle { rounds, ..Settle::default() };
            let at = |x: usize| mean * (1.0 + rise / 100.0 * (x as f64 / (rounds - 1) as f64 - 0.5));
            let line: Vec<f64> = (0..rounds).map(at).collect();
            prop_assert_eq!(settled(&line, &rules), rise.abs() < 10.0);
        }
    }
}
