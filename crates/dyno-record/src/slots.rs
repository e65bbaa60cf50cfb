//! The slots of Dyno's latency histograms: 1 ns to 1 h, three significant digits.
//!
//! This is the layout of HDR histograms. Bucket `b` is selected by the high bits of a slot, and its
//! slots are `2^b` ns wide; those of the lower half of the first bucket come first.

/// Longest latency recorded exactly: one hour. Longer ones count as one hour.
pub const HIGHEST_NS: u64 = 3_600_000_000_000;

/// Number of a slot.
pub type Slot = u16;

/// Number of slots.
pub const SLOTS: usize = 33 << HALF;

/// Bits of half a bucket at three digits: 1,024 slots.
pub const HALF: u32 = 10;

/// The slot of a latency in ns; `None` beyond the range of slots.
pub fn of(ns: u64) -> Option<Slot> {
    let shift = (u64::BITS - ns.leading_zeros()).saturating_sub(HALF + 1);
    let slot = (u64::from(shift) << HALF) + (ns >> shift);
    (slot < SLOTS as u64).then_some(slot as Slot)
}

/// The lowest latency of a slot, in ns.
pub fn lowest(slot: Slot) -> u64 {
    let (bucket, half) = (u64::from(slot) >> HALF, 1 << HALF);
    let place = (u64::from(slot) & (half - 1)) + if bucket == 0 { 0 } else { half };
    place << bucket.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_longest_latency_has_the_last_slots() {
        assert!(usize::from(of(HIGHEST_NS).unwrap()) < SLOTS);
        assert_eq!(of(1 << 43), None);
    }

    proptest! {
        #[test]
        fn a_slot_begins_at_most_a_thousandth_below_its_values(ns in 0u64..=HIGHEST_NS) {
            let lowest = lowest(of(ns).unwrap());
            prop_assert!(lowest <= ns && ns - lowest <= ns / 1000, "{lowest} {ns}");
            prop_assert_eq!(of(lowest), of(ns));
        }
    }
}
