//! What to drive, at which load and for how long.

use std::path::PathBuf;

use dyno_record::{Clock, Error, ErrorKind, Result};
use serde::Deserialize;

use crate::rate::{LONGEST_S, Rate};
use crate::wire::{mssql, mysql, null, postgres, sqlite};
use crate::workloads::contract::Workload;
use crate::workloads::{Visitor, WorkloadPlan};

/// Maximum users of a run: with more, a driver thread cannot be on time.
const MOST_USERS: u32 = 100_000;

/// The plan of one level of load: a warm-up, then one measured window.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrivePlan {
    /// Protocol and address of the target.
    pub wire: WirePlan,
    /// The workload.
    pub workload: WorkloadPlan,
    /// Seed of all random values.
    pub seed: u64,
    /// Number of users, each with its own connection.
    pub users: u32,
    /// When transactions start.
    #[serde(rename = "loop")]
    pub pacing: Pacing,
    /// Length of the warm-up, which is recorded but does not count.
    pub warmup_s: f64,
    /// Length of the measured window.
    pub duration_s: f64,
    /// Driver threads. Default: this driver's share of one per two CPUs.
    #[serde(default)]
    pub threads: Option<u32>,
    /// Number of drivers that run in parallel on this machine, including this one. They share its
    /// CPUs.
    #[serde(default = "default_drivers")]
    pub drivers: u32,
    /// This driver's index, from 0: evenly spaced starts of all drivers interleave.
    #[serde(default)]
    pub turn: u32,
    /// The run's clock.
    pub clock: Clock,
    /// The spool of intervals to append to.
    pub spool: PathBuf,
    /// Length of an interval, seconds.
    #[serde(default = "default_interval")]
    pub interval_s: f64,
    /// Maximum retries of a transaction after a deadlock or serialisation failure.
    #[serde(default = "default_retries")]
    pub max_retries: u32,
    /// How long a user tries to reconnect; 0 disables it.
    #[serde(default = "default_reconnect")]
    pub reconnect_s: f64,
}

/// A target's protocol and address.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WirePlan {
    /// A PostgreSQL server.
    Postgres(postgres::Config),
    /// A SQLite file.
    Sqlite(sqlite::Config),
    /// A MariaDB or MySQL server.
    Mysql(mysql::Config),
    /// A SQL Server.
    Mssql(mssql::Config),
    /// A simulated server.
    Null(null::Model),
}

/// When transactions start.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Pacing {
    /// Each user starts the next transaction after the response to the previous one.
    Closed {
        /// Whether users have the workload's keying and think times.
        #[serde(default)]
        think: bool,
    },
    /// A schedule that is independent of responses; the users are the sessions that serve it.
    Open {
        /// Starts per second of all users together.
        rate_per_s: Rate,
        /// Exponential gaps instead of even ones.
        #[serde(default)]
        poisson: bool,
    },
}

fn default_interval() -> f64 {
    1.0
}

fn default_drivers() -> u32 {
    1
}

fn default_retries() -> u32 {
    10
}

fn default_reconnect() -> f64 {
    5.0
}

impl DrivePlan {
    /// Checks the values.
    ///
    /// # Errors
    /// `usage`, with the name of the field.
    pub fn validate(&self) -> Result<()> {
        within("users", f64::from(self.users), 1.0, f64::from(MOST_USERS))?;
        within("warmup_s", self.warmup_s, 0.0, LONGEST_S)?;
        within("duration_s", self.duration_s, 0.001, LONGEST_S)?;
        within("interval_s", self.interval_s, 0.01, 3600.0)?;
        within("reconnect_s", self.reconnect_s, 0.0, 86_400.0)?;
        within("drivers", f64::from(self.drivers), 1.0, 1024.0)?;
        within("turn", f64::from(self.turn), 0.0, f64::from(self.drivers - 1))?;
        if let Some(threads) = self.threads {
            within("threads", f64::from(threads), 1.0, 1024.0)?;
        }
        if let Pacing::Open { rate_per_s, .. } = &self.pacing {
            rate_per_s.validate()?;
        }
        self.workload.visit(self.seed, Made)?;
        let patience_s = match &self.wire {
            WirePlan::Postgres(config) => config.connect_timeout_s,
            WirePlan::Mysql(config) => config.connect_timeout_s,
            WirePlan::Mssql(config) => config.connect_timeout_s,
            WirePlan::Sqlite(config) => {
                return within("wire.busy_timeout_s", config.busy_timeout_s, 0.0, 3600.0);
            }
            WirePlan::Null(model) => return model.validate(),
        };
        within("wire.connect_timeout_s", patience_s, 0.001, 3600.0)
    }

    /// Number of driver threads, at most the number of users.
    pub(crate) fn thread_count(&self) -> u32 {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = self.threads.unwrap_or((processors as u32 / 2 / self.drivers).max(1));
        threads.min(self.users)
    }
}

/// Builds a workload to check its parameters.
struct Made;

impl Visitor for Made {
    type Output = ();

    fn visit<W: Workload + Clone>(self, _workload: &W) -> Result<()> {
        Ok(())
    }
}

pub(crate) fn within(field: &str, value: f64, least: f64, most: f64) -> Result<()> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        let message = format!("{field} is {value}; it must be between {least} and {most}");
        Err(Error::new(ErrorKind::Usage, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::mode::Mode;
    use crate::workloads::tpcc::HomePolicy;

    const PLAN: &str = r#"{
        "wire": {"kind": "null", "mean_ms": 1},
        "workload": {"kind": "tpcc", "params": {"warehouses": 2, "c_load": 7}}, "seed": 1,
        "users": 4, "loop": {"kind": "closed"}, "warmup_s": 0, "duration_s": 1,
        "clock": {"unix_ns": 0, "monotonic_ns": 0}, "spool": "x"
    }"#;

    fn tpcc(params: &serde_json::Value) -> serde_json::Value {
        serde_json::json!({"kind": "tpcc", "params": params})
    }

    fn with(field: &str, value: serde_json::Value) -> serde_json::Result<DrivePlan> {
        let mut plan: serde_json::Value = serde_json::from_str(PLAN).unwrap();
        plan[field] = value;
        serde_json::from_value(plan)
    }

    #[test]
    fn a_plan_with_defaults() {
        let plan: DrivePlan = serde_json::from_str(PLAN).unwrap();
        plan.validate().unwrap();
        assert_eq!(plan.pacing, Pacing::Closed { think: false });
        assert_eq!(plan.max_retries, 10);
        let WorkloadPlan::Tpcc(params) = &plan.workload else { panic!("{plan:?}") };
        assert_eq!((params.home, params.mode), (HomePolicy::Random, Mode::Client));
        assert!(plan.thread_count() <= 4);
    }

    #[test]
    fn unknown_words_are_refused() {
        use serde_json::json;
        for (field, value) in [
            ("usres", json!(1)),
            ("workload", tpcc(&json!({"warehouses": 2, "c_load": 7, "mode": "procedures"}))),
            ("workload", tpcc(&json!({"warehouses": 2.5, "c_load": 7}))),
            ("workload", tpcc(&json!({"warehouses": 2, "c_load": 7, "hme": "fixed"}))),
            ("workload", tpcc(&json!({"warehouses": 2}))),
            ("workload", json!("tpcc")),
            ("loop", json!({"kind": "open", "rate": 5})),
            ("loop", json!({"kind": "open", "rate_per_s": "5"})),
            ("workload", json!({"kind": "tpch", "params": {}})),
            ("workload", json!({"kind": "point_select", "params": {"sql": "select 1", "keyz": 5}})),
            ("loop", json!({"kind": "closed", "thnik": true})),
            ("wire", json!({"kind": "null", "maen_ms": 1})),
            ("wire", json!({"kind": "sqlite", "path": "x", "patience": 1})),
            (
                "wire",
                json!({"kind": "postgres", "host": "h", "user": "u", "database": "d", "x": 1}),
            ),
        ] {
            assert!(with(field, value.clone()).is_err(), "{field} {value}");
        }
    }

    #[test]
    fn a_rate_is_a_number_or_points() {
        use serde_json::json;
        let points = json!([[0, 100], [60, 1000.5]]);
        for (rate, expected) in [
            (json!(5), Rate::Constant(5.0)),
            (points, Rate::Points(vec![(0.0, 100.0), (60.0, 1000.5)])),
        ] {
            let plan = with("loop", json!({"kind": "open", "rate_per_s": rate})).unwrap();
            plan.validate().unwrap();
            assert_eq!(plan.pacing, Pacing::Open { rate_per_s: expected, poisson: false });
        }
    }

    #[test]
    fn absurd_figures_are_refused_by_name() {
        use serde_json::json;
        for (field, value, named) in [
            ("users", json!(0), "users"),
            ("workload", tpcc(&json!({"warehouses": 0, "c_load": 7})), "warehouses"),
            ("duration_s", json!(0), "duration_s"),
            ("warmup_s", json!(-1), "warmup_s"),
            ("interval_s", json!(0), "interval_s"),
            ("threads", json!(0), "threads"),
            ("drivers", json!(0), "drivers"),
            ("turn", json!(1), "turn"),
            ("loop", json!({"kind": "open", "rate_per_s": 0}), "rate_per_s"),
            ("loop", json!({"kind": "open", "rate_per_s": [[1, 5], [0, 5]]}), "rate_per_s"),
            (
                "workload",
                json!({"kind": "point_select", "params": {"sql": "select $1", "keys": 0}}),
                "keys",
            ),
            ("wire", json!({"kind": "null", "mean_ms": -1}), "mean_ms"),
            (
                "wire",
                json!({"kind": "sqlite", "path": "x", "busy_timeout_s": -1}),
                "busy_timeout_s",
            ),
        ] {
            let error = with(field, value).unwrap().validate().unwrap_err();
            assert_eq!(error.kind, ErrorKind::Usage);
            assert!(error.message.contains(named), "{error}");
        }
    }
}
