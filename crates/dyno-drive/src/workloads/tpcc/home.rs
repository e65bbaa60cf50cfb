//! The choice of a user's warehouse.

use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

/// How users choose their warehouse.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Each user keeps one, assigned round-robin: few users touch little of the data.
    Fixed,
    /// Each transaction draws one at random, so all data is touched.
    #[default]
    Random,
    /// Each user takes all warehouses in turn, from a different start.
    All,
}

/// A user's choice.
#[derive(Debug, Clone)]
pub struct Home {
    policy: Policy,
    warehouses: i32,
    current: i32,
}

impl Home {
    /// The choice for user number `user`.
    pub fn new(policy: Policy, user: u32, warehouses: i32) -> Self {
        Self { policy, warehouses, current: (user % warehouses as u32) as i32 + 1 }
    }

    /// The warehouse for the next transaction.
    pub fn next(&mut self, rng: &mut Xoshiro256PlusPlus) -> i32 {
        match self.policy {
            Policy::Fixed => self.current,
            Policy::Random => rng.random_range(1..=self.warehouses),
            Policy::All => {
                let taken = self.current;
                self.current = taken % self.warehouses + 1;
                taken
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn take(policy: Policy, user: u32, count: usize) -> Vec<i32> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut home = Home::new(policy, user, 3);
        std::iter::repeat_with(|| home.next(&mut rng)).take(count).collect()
    }

    #[test]
    fn policies() {
        assert_eq!(take(Policy::Fixed, 0, 3), [1, 1, 1]);
        assert_eq!(take(Policy::Fixed, 4, 3), [2, 2, 2]);
        assert_eq!(take(Policy::All, 1, 4), [2, 3, 1, 2]);
        let random = take(Policy::Random, 0, 3_000);
        for warehouse in 1..=3 {
            let count = random.iter().filter(|drawn| **drawn == warehouse).count();
            assert!((850..1_150).contains(&count), "warehouse {warehouse}: {count}");
        }
    }
}
