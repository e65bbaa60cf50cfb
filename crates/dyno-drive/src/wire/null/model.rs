//! Service times of the simulated server. Pure: time is passed in.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use dyno_record::{Error, ErrorKind, Result};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use crate::pacer::exponential;

/// Behaviour of the simulated server.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Distribution of service times.
    #[serde(default)]
    pub distribution: Distribution,
    /// Mean service time of a transaction, ms; 0 responds at once.
    #[serde(default)]
    pub mean_ms: f64,
    /// Maximum transactions in service at once; others wait, first come first served. Default: no
    /// limit.
    #[serde(default)]
    pub servers: Option<u32>,
    /// Regular pauses without service.
    #[serde(default)]
    pub stall: Option<Stall>,
    /// Seed of the service times.
    #[serde(default)]
    pub seed: u64,
}

/// A distribution of service times with a given mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// Always the mean.
    #[default]
    Fixed,
    /// Exponential.
    Exponential,
    /// Uniform between 0 and twice the mean.
    Uniform,
}

/// The server stalls for `for_ms` at the end of every `every_ms`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stall {
    /// Period.
    pub every_ms: f64,
    /// Length of the pause, less than the period.
    pub for_ms: f64,
}

impl Model {
    /// Checks the values.
    ///
    /// # Errors
    /// `usage`.
    pub fn validate(&self) -> Result<()> {
        let wrong = |what: &str| Err(Error::new(ErrorKind::Usage, format!("null wire: {what}")));
        if !(self.mean_ms.is_finite() && self.mean_ms >= 0.0) {
            return wrong("mean_ms must be 0 or more");
        }
        if self.servers == Some(0) {
            return wrong("servers must be 1 or more");
        }
        match self.stall {
            Some(stall)
                if !(stall.for_ms > 0.0
                    && stall.every_ms.is_finite()
                    && stall.for_ms < stall.every_ms) =>
            {
                wrong("a stall must be longer than 0 and shorter than its period")
            }
            _ => Ok(()),
        }
    }
}

/// The simulated server: computes when each transaction will end.
#[derive(Debug)]
pub struct Server {
    distribution: Distribution,
    mean_ns: f64,
    /// When each server becomes free, soonest first, if their number is limited.
    free: Option<BinaryHeap<Reverse<u64>>>,
    stall: Option<(u64, u64)>,
    epoch_ns: u64,
    rng: Xoshiro256PlusPlus,
}

impl Server {
    /// A server whose first stall period starts at `epoch_ns`.
    pub fn new(model: &Model, epoch_ns: u64) -> Self {
        let ns = |ms: f64| (ms * 1e6) as u64;
        Self {
            distribution: model.distribution,
            mean_ns: model.mean_ms * 1e6,
            free: model.servers.map(|count| (0..count).map(|_| Reverse(0)).collect()),
            stall: model.stall.map(|stall| (ns(stall.every_ms), ns(stall.for_ms))),
            epoch_ns,
            rng: Xoshiro256PlusPlus::seed_from_u64(model.seed),
        }
    }

    /// When a transaction that arrives at `now_ns` will end. Calls are in order of arrival.
    pub fn admit(&mut self, now_ns: u64) -> u64 {
        let service_ns = match self.distribution {
            Distribution::Fixed => self.mean_ns,
            Distribution::Exponential => exponential(self.mean_ns, self.rng.random()),
            Distribution::Uniform => 2.0 * self.mean_ns * self.rng.random::<f64>(),
        } as u64;
        let start_ns = match self.free.as_mut().and_then(BinaryHeap::pop) {
            Some(Reverse(free_ns)) => now_ns.max(free_ns),
            None => now_ns,
        };
        let end_ns = self.serve(start_ns, service_ns);
        if let Some(free) = &mut self.free {
            free.push(Reverse(end_ns));
        }
        end_ns
    }

    /// When `service_ns` of work that begins at `start_ns` is done; stalls take extra time.
    fn serve(&self, start_ns: u64, service_ns: u64) -> u64 {
        let Some((every, pause)) = self.stall else { return start_ns + service_ns };
        let active = every - pause;
        let since = start_ns.saturating_sub(self.epoch_ns);
        // Work that a server without idle time could have done by the start, and by the end.
        let worked = since / every * active + (since % every).min(active);
        let target = worked + service_ns;
        let (periods, rest) = (target / active, target % active);
        // Work that ends exactly with a period ends before its pause, unless it began after the
        // pause.
        let end = match (periods, rest) {
            (1.., 0) if service_ns > 0 => (periods - 1) * every + active,
            _ => periods * every + rest,
        };
        self.epoch_ns + end.max(since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop, prop_assert, proptest};

    fn server(json: &str) -> Server {
        let model: Model = serde_json::from_str(json).unwrap();
        model.validate().unwrap();
        Server::new(&model, 0)
    }

    const MS: u64 = 1_000_000;

    #[test]
    fn one_server_is_a_queue() {
        let mut server = server(r#"{"mean_ms": 10, "servers": 1}"#);
        assert_eq!(server.admit(0), 10 * MS);
        assert_eq!(server.admit(MS), 20 * MS);
        assert_eq!(server.admit(50 * MS), 60 * MS);
    }

    #[test]
    fn two_servers_serve_two_at_once() {
        let mut server = server(r#"{"mean_ms": 10, "servers": 2}"#);
        let ends: Vec<u64> = (0..4).map(|_| server.admit(0) / MS).collect();
        assert_eq!(ends, [10, 10, 20, 20]);
    }

    #[test]
    fn a_stall_delays_what_it_meets() {
        let json = r#"{"mean_ms": 10, "stall": {"every_ms": 1000, "for_ms": 100}}"#;
        let table = [(0, 10), (889, 899), (890, 900), (895, 1005), (950, 1010), (1000, 1010)];
        for (start, end) in table {
            assert_eq!(server(json).admit(start * MS), end * MS, "started at {start}");
        }
    }

    #[test]
    fn work_longer_than_a_period_meets_every_stall() {
        let json = r#"{"mean_ms": 2000, "stall": {"every_ms": 1000, "for_ms": 100}}"#;
        assert_eq!(server(json).admit(0), 2200 * MS);
    }

    #[test]
    fn impossible_models_are_refused() {
        for json in [
            r#"{"mean_ms": -1}"#,
            r#"{"servers": 0}"#,
            r#"{"stall": {"every_ms": 10, "for_ms": 10}}"#,
            r#"{"stall": {"every_ms": 10, "for_ms": 0}}"#,
        ] {
            let model: Model = serde_json::from_str(json).unwrap();
            assert_eq!(model.validate().unwrap_err().kind, ErrorKind::Usage, "{json}");
        }
        assert!(serde_json::from_str::<Model>(r#"{"mean": 1}"#).is_err());
    }

    proptest! {
        #[test]
        fn means_are_kept(seed in any::<u64>(), kind in prop::sample::select(vec!["fixed", "exponential", "uniform"])) {
            let mut server = server(&format!(r#"{{"mean_ms": 3, "distribution": "{kind}", "seed": {seed}}}"#));
            let sum: u64 = (0..20_000).map(|_| server.admit(0)).sum();
            let mean_ms = sum as f64 / 20_000.0 / 1e6;
            prop_assert!((mean_ms - 3.0).abs() < 0.15, "{mean_ms}");
        }

        #[test]
        fn stalls_only_delay(start in 0u64..10_000 * MS, every in 2u64..2_000, share in 0.01f64..0.99) {
            let pause = every as f64 * share;
            let json = format!(r#"{{"mean_ms": 7, "stall": {{"every_ms": {every}, "for_ms": {pause}}}}}"#);
            let end = server(&json).admit(start);
            prop_assert!(end >= start + 7 * MS);
            let pauses = 2.0 + 7.0 / (every as f64 - pause);
            prop_assert!((end - start) as f64 <= 7e6 + pauses * pause * 1e6 + 2.0);
        }
    }
}
