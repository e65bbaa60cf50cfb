//! Aggregates the threads' measurements: intervals for the spool, totals for the outcome.

use std::collections::BTreeMap;

use dyno_record::{
    Clock, Error, ErrorKind, Latency, OpInterval, OpTotals, Percentiles, Result, Spool,
};

use crate::cpu::thread_cpu_ns;
use crate::outcome::{Embedded, OpOutcome, Outcome};
use crate::parts::{Part, Worst};
use crate::recorder::{Interval, Report};
use crate::window::{Window, phase};

/// Aggregates the measurements of a run.
#[derive(Debug)]
pub struct Aggregator {
    operations: &'static [&'static str],
    clock: Clock,
    spool: Spool,
    threads: u32,
    /// Intervals that only some threads have closed.
    open: BTreeMap<i64, Merged>,
    totals: Vec<OpTotals>,
    reports: Report,
    utilised_ns: u64,
    /// CPU time of this thread at the start of the measurement.
    cpu_before_ns: u64,
    embedded: Option<Embedded>,
}

/// An interval, summed over threads.
#[derive(Debug, Default)]
struct Merged {
    threads: u32,
    end_ns: u64,
    ops: Vec<OpTotals>,
}

impl Aggregator {
    /// Creates an aggregator for `threads` threads.
    pub fn new(
        operations: &'static [&'static str],
        clock: Clock,
        spool: Spool,
        threads: u32,
    ) -> Self {
        Self {
            operations,
            clock,
            spool,
            threads,
            open: BTreeMap::new(),
            totals: vec![OpTotals::default(); operations.len()],
            reports: Report::default(),
            utilised_ns: 0,
            cpu_before_ns: 0,
            embedded: None,
        }
    }

    /// Starts counting this thread's CPU time.
    pub fn start_measuring(&mut self) {
        self.cpu_before_ns = thread_cpu_ns();
    }

    /// Ends the window; `embedded` is what a database inside this process has counted in it.
    pub fn stop_measuring(&mut self, embedded: Option<Embedded>) {
        self.embedded = embedded;
    }

    /// Adds a thread's interval; writes the interval once all threads have closed it.
    ///
    /// # Errors
    /// Those of the spool.
    pub fn interval(&mut self, window: &Window, interval: Interval) -> Result<()> {
        let merged = self.open.entry(interval.index).or_default();
        merged.threads += 1;
        merged.end_ns = merged.end_ns.max(interval.end_ns);
        if merged.ops.is_empty() {
            merged.ops = interval.ops;
        } else {
            for (into, from) in merged.ops.iter_mut().zip(&interval.ops) {
                into.merge(from);
            }
        }
        if merged.threads < self.threads {
            return Ok(());
        }
        let Some(merged) = self.open.remove(&interval.index) else { return Ok(()) };
        let (start_ns, _) = window.bounds(interval.index);
        let phase = phase(interval.index);
        let seconds = merged.end_ns.saturating_sub(start_ns) as f64 / 1e9;
        // An interval in which nothing happened gets a row of zeros. The record then shows where
        // the measurement began and ended, and tells a silent server from a missing record.
        let silent = merged.ops.iter().all(OpTotals::is_empty);
        let t_ns = self.clock.unix_ns_at(start_ns);
        let operations = self.operations.iter().zip(&merged.ops).zip(&mut self.totals);
        for (place, ((op, totals), sum)) in operations.enumerate() {
            if totals.is_empty() && !(silent && place == 0) {
                continue;
            }
            self.spool.write(&OpInterval::new(t_ns, seconds, op, totals)?.in_phase(phase))?;
            if interval.index >= 0 {
                sum.merge(totals);
            }
        }
        Ok(())
    }

    /// Adds a thread's final report.
    pub fn report(&mut self, report: &Report) {
        let all = &mut self.reports;
        all.cpu_ns += report.cpu_ns;
        self.utilised_ns = self.utilised_ns.max(report.cpu_ns);
        all.parts.resize_with(report.parts.len(), Part::default);
        for (into, from) in all.parts.iter_mut().zip(&report.parts) {
            into.merge(from);
        }
        all.scheduled += report.scheduled;
        all.late += report.late;
        all.unsent += report.unsent;
        all.carried_over += report.carried_over;
        all.unfinished += report.unfinished;
        all.stuck += report.stuck;
        all.reconnects += report.reconnects;
        all.connected += report.connected;
        all.last_ns = all.last_ns.max(report.last_ns);
        all.schedule_late.merge(&report.schedule_late);
        for (kind, message) in &report.errors_first {
            all.errors_first.entry(*kind).or_insert_with(|| message.clone());
        }
    }

    /// When the last operation of the window ended, monotonic; 0 if none did.
    pub const fn last_ns(&self) -> u64 {
        self.reports.last_ns
    }

    /// The outcome of a complete run, measured for `seconds`, of a number of `users`; `open` if their
    /// starts followed a schedule.
    ///
    /// # Errors
    /// `connection_lost` if no user has a connection at the end.
    pub fn outcome(self, seconds: f64, users: u64, open: bool) -> Result<Outcome> {
        let Self { operations, totals, reports, .. } = self;
        // A user whose transaction was still running has a connection, too.
        if reports.connected + reports.stuck == 0
            && reports.errors_first.contains_key(&ErrorKind::ConnectionLost)
        {
            let message = "the run ended with every user disconnected from the server";
            return Err(Error::new(ErrorKind::ConnectionLost, message));
        }
        let ended = |totals: &OpTotals| totals.done + totals.rolled_back;
        let transactions: u64 = totals.iter().map(ended).sum();
        let client_cpu_s = (reports.cpu_ns + thread_cpu_ns() - self.cpu_before_ns) as f64 / 1e9;
        let mut lag = Latency::new();
        for part in &reports.parts {
            lag.merge(&part.lag);
        }
        Ok(Outcome {
            seconds,
            ops: operations
                .iter()
                .zip(&totals)
                .filter(|(_, totals)| !totals.is_empty())
                .map(|(op, totals)| (*op, OpOutcome::from(totals)))
                .collect(),
            tps: transactions as f64 / seconds,
            client_cpu_s,
            client_cpu_ms_per_1000: match transactions {
                0 => 0.0,
                transactions => client_cpu_s * 1e6 / transactions as f64,
            },
            thread_utilisation_max: self.utilised_ns as f64 / 1e9 / seconds,
            lag_p99_ms: milliseconds(&lag, 0.99),
            scheduled: open.then_some(reports.scheduled),
            late: reports.late,
            unsent: reports.unsent,
            carried_over: if open { reports.carried_over } else { 0 },
            unfinished: reports.unfinished,
            stuck: reports.stuck,
            reconnects: reports.reconnects,
            gone: users.saturating_sub(reports.connected + reports.stuck),
            errors_first: reports.errors_first,
            threads: self.threads,
            worst: Worst::of(&reports.parts, self.threads),
            behind_ms: None,
            lost: None,
            schedule_late_ms: (reports.schedule_late.count() > 0)
                .then(|| Percentiles::from(&reports.schedule_late)),
            writer: self.embedded.map(|it| it.writer),
            page_cache: self.embedded.map(|it| it.page_cache),
        })
    }
}

fn milliseconds(latency: &Latency, quantile: f64) -> f64 {
    latency.quantile_ns(quantile) as f64 / 1e6
}
