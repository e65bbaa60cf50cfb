//! How often a timer may fire. Pure: time is passed in.
//!
//! Setting a timer, sleeping and waking cost a thread about 15 µs on a virtual machine, many times
//! the cost of a start. With one wake-up per start, thousands of starts per second would take all
//! of the thread's time and all be late. So expiries keep a minimum mean distance, and closer
//! starts share one.

/// Minimum mean distance, which is the maximum delay of a start to save the thread's time.
const SPACING_NS: u64 = 50_000;
/// Expiries that may be closer after a quiet period. They keep schedules of fewer than 20,000
/// random starts per second exact.
const BURST: u64 = 8;

/// Limits expiries, as a leaky bucket.
#[derive(Debug, Default)]
pub struct Spacing {
    /// When the bucket is empty: the expiries so far, one distance apart.
    through_ns: u64,
}

impl Spacing {
    /// Records an expiry.
    pub fn fired(&mut self, now_ns: u64) {
        self.through_ns = self.through_ns.max(now_ns) + SPACING_NS;
    }

    /// The earliest time for the next expiry.
    pub fn earliest_ns(&self) -> u64 {
        self.through_ns.saturating_sub(BURST * SPACING_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop, prop_assert, prop_assert_eq, proptest};

    const S: u64 = 1_000_000_000;

    /// Fires whenever a start is due and an expiry is permitted.
    fn firings(due_ns: impl IntoIterator<Item = u64>) -> Vec<(u64, u64)> {
        let (mut spacing, mut last_ns) = (Spacing::default(), None);
        let mut fired = Vec::new();
        for due_ns in due_ns {
            // Starts that the last expiry found due need no further one.
            if last_ns.is_some_and(|last_ns| due_ns <= last_ns) {
                continue;
            }
            let at_ns = due_ns.max(spacing.earliest_ns());
            spacing.fired(at_ns);
            last_ns = Some(at_ns);
            fired.push((due_ns, at_ns));
        }
        fired
    }

    #[test]
    fn what_is_far_enough_apart_fires_when_it_is_due() {
        for (due_ns, at_ns) in firings((0..10_000).map(|start| S + start * SPACING_NS)) {
            assert_eq!(due_ns, at_ns);
        }
    }

    #[test]
    fn what_is_close_shares_firings() {
        // 50,000 starts per second.
        let fired = firings((0..50_000).map(|start| S + start * 20_000));
        assert!(fired.len() as u64 <= S / SPACING_NS + BURST + 1, "{}", fired.len());
        assert!(fired.iter().all(|(due_ns, at_ns)| at_ns - due_ns <= SPACING_NS));
        assert!(fired[..BURST as usize].iter().all(|(due_ns, at_ns)| due_ns == at_ns));
    }

    proptest! {
        #[test]
        fn firings_are_rationed_and_nearly_on_time(gaps in prop::collection::vec(0u64..200_000, 1..500)) {
            let mut due_ns = S;
            let starts = gaps.into_iter().map(|gap| { due_ns += gap; due_ns });
            let fired = firings(starts);
            for (due_ns, at_ns) in &fired {
                prop_assert!(at_ns >= due_ns && at_ns - due_ns <= SPACING_NS);
            }
            for (first, (_, from_ns)) in fired.iter().enumerate() {
                for (count, (_, to_ns)) in fired[first..].iter().enumerate() {
                    let most = (to_ns - from_ns) / SPACING_NS + BURST + 1;
                    prop_assert!(count as u64 <= most, "{count} in {} ns", to_ns - from_ns);
                }
            }
            prop_assert_eq!(fired[0].0, fired[0].1);
        }
    }
}
