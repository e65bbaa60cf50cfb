//! Non-uniform numbers and last names, used by the data and by the driver's inputs.

use rand::RngCore;

/// Distinct last names.
pub const LAST_NAMES: i32 = 1_000;

/// `A` of the non-uniform last names.
pub const A_LAST_NAME: i32 = 255;

const SYLLABLES: [&str; 10] =
    ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

/// The non-uniform `NURand(a, low, high)` with constant `c`, in `low..=high`.
///
/// `(((random(0, a) | random(low, high)) + c) mod (high − low + 1)) + low`: TPC-C, clause 2.1.6.
pub fn nurand(rng: &mut impl RngCore, a: i32, c: i32, low: i32, high: i32) -> i32 {
    ((uniform(rng, 0, a) | uniform(rng, low, high)) + c) % (high - low + 1) + low
}

/// Appends the last name of `number`, 0 to 999: a syllable for each of its three digits (TPC-C,
/// clause 4.3.2.3).
pub fn push_last_name(number: i32, name: &mut String) {
    for digit in [number / 100, number / 10, number] {
        name.push_str(SYLLABLES[digit.rem_euclid(10) as usize]);
    }
}

/// A uniform draw from `low..=high`. The bias of the multiplication is below 2^-32.
#[inline]
pub(crate) fn uniform(rng: &mut impl RngCore, low: i32, high: i32) -> i32 {
    let range = (high - low) as u64 + 1;
    low + ((u128::from(rng.next_u64()) * u128::from(range)) >> 64) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn names_are_made_of_the_digits_syllables() {
        for (number, expected) in [(0, "BARBARBAR"), (371, "PRICALLYOUGHT"), (999, "EINGEINGEING")]
        {
            let mut name = String::new();
            push_last_name(number, &mut name);
            assert_eq!(name, expected);
        }
    }

    #[test]
    fn numbers_cover_the_range_unevenly() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut seen = vec![0u32; 1000];
        for _ in 0..200_000 {
            seen[nurand(&mut rng, A_LAST_NAME, 123, 0, LAST_NAMES - 1) as usize] += 1;
        }
        // The bitwise or favours numbers with many bits set: the most frequent 1 in 250 numbers get
        // 1 in 16 of all draws.
        seen.sort_unstable();
        let frequent: u32 = seen[996..].iter().sum();
        assert!(frequent > 200_000 / 16, "{frequent}");
        assert!(seen.iter().filter(|count| **count > 0).count() > 950);
    }

    #[test]
    fn even_choices_reach_both_ends() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let drawn: Vec<_> = (0..1_000).map(|_| uniform(&mut rng, -3, 3)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&-3), Some(&3)));
    }
}
