//! Latency histograms: HDR, three significant digits, nanoseconds.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};

use crate::encoded::Decoder;
use crate::slots::{self, HIGHEST_NS, Slot};
use crate::{Error, ErrorKind, Result};

/// A latency distribution in nanoseconds, 1 ns to 1 h, three significant digits.
///
/// Memory is bounded: at most 270 KiB. Unlike percentiles, histograms merge without loss.
#[derive(Debug, Clone)]
pub struct Latency(Histogram<u64>);

impl Default for Latency {
    fn default() -> Self {
        Self::new()
    }
}

impl Latency {
    /// An empty distribution.
    pub fn new() -> Self {
        Self(Histogram::new_with_bounds(1, HIGHEST_NS, 3).expect("constant bounds are valid"))
    }

    /// Counts one latency. Zero counts as 1 ns, anything above an hour as an hour.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.0.saturating_record(ns.clamp(1, HIGHEST_NS));
    }

    /// Adds all latencies of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.0.add(&other.0).expect("all latencies share one range");
    }

    /// Number of latencies counted.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Mean in nanoseconds, 0 when empty.
    pub fn mean_ns(&self) -> f64 {
        if self.0.is_empty() { 0.0 } else { self.0.mean() }
    }

    /// Largest latency in nanoseconds (three digits), 0 when empty.
    pub fn max_ns(&self) -> u64 {
        if self.0.is_empty() { 0 } else { self.0.max() }
    }

    /// Quantile in nanoseconds (`quantile` from 0 to 1), 0 when empty.
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        if self.0.is_empty() { 0 } else { self.0.value_at_quantile(quantile) }
    }

    /// The public HDR "V2 deflate" encoding in base64, as in HDR interval logs. Readable by every
    /// `HdrHistogram` library.
    ///
    /// # Errors
    /// `internal` if the encoder fails, which needs more than 2^63 samples.
    pub fn encode(&self) -> Result<String> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.0, &mut bytes)
            .map_err(|error| Error::new(ErrorKind::Internal, format!("HDR encoding: {error:?}")))?;
        Ok(STANDARD.encode(bytes))
    }

    /// Reverses [`encode`](Self::encode).
    ///
    /// # Errors
    /// See [`add_encoded`](Self::add_encoded).
    pub fn decode(text: &str) -> Result<Self> {
        let mut latency = Self::new();
        latency.add_encoded(text, &mut Decoder::default())?;
        Ok(latency)
    }

    /// Adds an encoded histogram of at most three digits and one hour.
    ///
    /// # Errors
    /// `protocol` if `text` is not one; a part of it may have been added.
    pub fn add_encoded(&mut self, text: &str, decoder: &mut Decoder) -> Result<()> {
        decoder.decode(text.as_bytes(), |slot, count| {
            let ns = slots::lowest(slot).max(1);
            self.0.saturating_record_n(ns, count);
        })
    }

    /// Used slots, ascending, and their counts.
    pub fn used(&self) -> (Vec<Slot>, Vec<u64>) {
        let used = self.0.iter_recorded();
        used.map(|one| {
            let slot = slots::of(one.value_iterated_to()).expect("it is in the range");
            (slot, one.count_since_last_iteration())
        })
        .unzip()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn empty_is_zero_not_a_panic() {
        let latency = Latency::new();
        assert_eq!((latency.count(), latency.max_ns(), latency.quantile_ns(0.99)), (0, 0, 0));
    }

    proptest! {
        #[test]
        fn quantiles_are_exact_to_three_digits(mut values in prop::collection::vec(1u64..10_000_000_000, 1..500)) {
            let mut latency = Latency::new();
            for value in &values {
                latency.record(*value);
            }
            values.sort_unstable();
            for quantile in [0.5f64, 0.95, 0.99, 1.0] {
                let rank = ((quantile * values.len() as f64).ceil() as usize).max(1) - 1;
                let (exact, seen) = (values[rank] as f64, latency.quantile_ns(quantile) as f64);
                prop_assert!((seen - exact).abs() <= exact * 1e-3 + 1.0, "{seen} against {exact}");
            }
        }

        #[test]
        fn merging_equals_recording_together(a in prop::collection::vec(1u64..1 << 40, 0..200), b in prop::collection::vec(1u64..1 << 40, 0..200)) {
            let (mut left, mut right, mut both) = (Latency::new(), Latency::new(), Latency::new());
            for value in a {
                left.record(value);
                both.record(value);
            }
            for value in b {
                right.record(value);
                both.record(value);
            }
            left.merge(&right);
            prop_assert_eq!(left.encode().unwrap(), both.encode().unwrap());
        }

        #[test]
        fn the_encoding_round_trips(values in prop::collection::vec(1u64..HIGHEST_NS, 0..100)) {
            let mut latency = Latency::new();
            for value in values {
                latency.record(value);
            }
            let decoded = Latency::decode(&latency.encode().unwrap()).unwrap();
            prop_assert_eq!(decoded.count(), latency.count());
            prop_assert_eq!(decoded.encode().unwrap(), latency.encode().unwrap());
            prop_assert_eq!(decoded.used().1.iter().sum::<u64>(), latency.count());
        }
    }
}
