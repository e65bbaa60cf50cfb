//! Counters of sequences. Scripts are stored for the life of the process; their counters are not
//! part of them.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex, PoisonError};

/// The next number of a sequence.
pub type Counter = Arc<AtomicI64>;

/// The counter with a key, which levels with that key share; without one, a new counter.
pub fn counter(key: Option<&String>, first: i64) -> Counter {
    static SHARED: Mutex<BTreeMap<String, Counter>> = Mutex::new(BTreeMap::new());
    let new = || Arc::new(AtomicI64::new(first));
    let Some(key) = key else { return new() };
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(shared.entry(key.clone()).or_insert_with(new))
}
