//! Seeds of random number streams, derived so that no two streams overlap.
//!
//! Users pass adjacent seeds (`--seed 1`, `--seed 2`). Adding small numbers to a seed would give
//! one user's stream to another user of the next run, so seeds are hashed. The hash is SHA-256
//! because seeds are recorded: the same four values give the same stream on every machine and in
//! every later version of Dyno.

use sha2::{Digest as _, Sha256};

/// Prefix of the hashed bytes. Another scheme needs another number.
const SCHEME: &[u8] = b"dyno stream 1";

/// The seed of the stream that `user` (or lane, thread, window …) of `workload` uses for `purpose`,
/// in a run with the seed `seed`.
pub fn derive_seed(seed: u64, workload: &str, user: u64, purpose: &str) -> u64 {
    let hash = Sha256::new()
        .chain_update(SCHEME)
        .chain_update(seed.to_le_bytes())
        .chain_update(user.to_le_bytes())
        // The length keeps two pairs of names from giving the same bytes.
        .chain_update((workload.len() as u64).to_le_bytes())
        .chain_update(workload)
        .chain_update(purpose)
        .finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&hash[..8]);
    u64::from_le_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const PURPOSES: [&str; 4] = ["inputs", "think", "retries", "schedule"];

    #[test]
    fn no_two_streams_of_neighbouring_seeds_coincide() {
        let mut seen = HashSet::new();
        for first in [0, 1, 1 << 32, u64::MAX - 64] {
            for seed in first..first + 64 {
                for user in 0..64 {
                    for purpose in PURPOSES {
                        for workload in ["tpcc", "tpcc@2"] {
                            seen.insert(derive_seed(seed, workload, user, purpose));
                        }
                    }
                }
            }
        }
        // Seeds 1 to 63 are in two of the ranges.
        let seeds = 65 + 64 + 64;
        assert_eq!(seen.len(), seeds * 64 * PURPOSES.len() * 2);
    }

    #[test]
    fn names_are_told_apart() {
        assert_ne!(derive_seed(1, "a", 0, "bc"), derive_seed(1, "ab", 0, "c"));
        assert_ne!(derive_seed(1, "", 0, "abc"), derive_seed(1, "abc", 0, ""));
    }

    #[test]
    fn recorded_seeds_keep_their_meaning() {
        assert_eq!(derive_seed(1, "tpcc", 0, "inputs"), 0x2a7f_db4e_379d_4862);
    }
}
