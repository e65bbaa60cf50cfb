//! Reads a log ahead of its replay, a bounded time and a bounded number of bytes, and gives each
//! statement to the thread of its session.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use dyno_record::{Control, Result, monotonic_ns};
use tokio::sync::mpsc::UnboundedSender;

use super::chosen::{Chosen, Found};
use super::plan::ReplayPlan;
use crate::window::Window;

/// Maximum bytes of statements that wait for their time.
const MOST_BYTES: usize = 64 << 20;
/// Memory of a statement beside its text.
const OVERHEAD: usize = 200;
/// How far ahead of the replay to read, beyond the longest statement: a log with durations has
/// statements in the order of their ends.
const AHEAD_S: f64 = 2.0;
/// Maximum of the two together.
const MOST_AHEAD_S: f64 = 300.0;
/// Statements given at once.
const BATCH: usize = 256;
const PAUSE: Duration = Duration::from_millis(5);

/// A statement to send.
#[derive(Debug)]
pub struct Work {
    /// When it is due, monotonic.
    pub due_ns: u64,
    /// Its operation.
    pub op: usize,
    /// Its text, and its values in the extended protocol.
    pub sql: String,
    /// See `sql`.
    pub parameters: Option<Vec<Option<String>>>,
}

impl Work {
    fn bytes(&self) -> usize {
        let values = self.parameters.iter().flatten();
        let values = values.map(|value| OVERHEAD / 4 + value.as_ref().map_or(0, String::len));
        OVERHEAD + self.sql.len() + values.sum::<usize>()
    }
}

/// What a thread gets.
#[derive(Debug)]
pub enum Item {
    /// A statement of a session.
    Run(u64, Work),
    /// The end of a session.
    End(u64),
}

/// The bytes that wait.
#[derive(Debug, Default)]
pub struct Budget {
    used: AtomicUsize,
    closed: AtomicBool,
}

impl Budget {
    /// Gives back the bytes of a statement that was sent.
    pub fn give_back(&self, work: &Work) {
        self.used.fetch_sub(work.bytes(), Relaxed);
    }

    /// Ends the reading.
    pub fn close(&self) {
        self.closed.store(true, Relaxed);
    }
}

/// The reading thread.
pub struct Feed<'a> {
    pub plan: &'a ReplayPlan,
    pub chosen: Chosen,
    pub budget: Arc<Budget>,
    /// To the driver threads.
    pub queues: Vec<UnboundedSender<Vec<Item>>>,
    pub control: &'a Control,
    /// Receives the time line when the threads are connected.
    pub start: Receiver<Window>,
}

impl Feed<'_> {
    /// Reads until the end of the log or of the replay.
    ///
    /// # Errors
    /// Those of [`Chosen::next`].
    pub fn run(mut self) -> Result<()> {
        // Nothing was begun if a thread could not connect.
        let Ok(window) = self.start.recv() else { return Ok(()) };
        let classes = self.classes();
        let other = self.plan.operations.len() - 1;
        let longest_s = self.plan.longest_s / self.plan.speed;
        let ahead_ns = ((AHEAD_S + longest_s).min(MOST_AHEAD_S) * 1e9) as u64;
        let mut first_ns = self.plan.select.first_ns;
        let mut batches: Vec<Vec<Item>> = self.queues.iter().map(|_| Vec::new()).collect();
        while let Some(found) = self.chosen.next()? {
            let (session, item) = match found {
                Found::Left { .. } => continue,
                Found::End { session, .. } => (session, Item::End(session)),
                Found::Run { at_ns, session, ran, class, .. } => {
                    let first_ns = *first_ns.get_or_insert(at_ns);
                    let after_ns = at_ns.saturating_sub(first_ns).max(0) as f64 / self.plan.speed;
                    let work = Work {
                        due_ns: window.start_ns.saturating_add(after_ns as u64),
                        op: classes.get(&class.1).copied().unwrap_or(other),
                        sql: ran.sql,
                        parameters: ran.parameters,
                    };
                    if !self.wait(work.due_ns, ahead_ns, &mut batches) {
                        return Ok(());
                    }
                    self.budget.used.fetch_add(work.bytes(), Relaxed);
                    (session, Item::Run(session, work))
                }
            };
            let thread = self.thread_of(session);
            batches[thread].push(item);
            if batches[thread].len() >= BATCH {
                self.give(thread, &mut batches);
            }
        }
        for thread in 0..self.queues.len() {
            self.give(thread, &mut batches);
        }
        Ok(())
    }

    /// Waits until a statement is near and there is memory for it. False at the end of the replay.
    fn wait(&self, due_ns: u64, ahead_ns: u64, batches: &mut [Vec<Item>]) -> bool {
        loop {
            if self.control.is_cancelled()
                || self.control.is_finishing()
                || self.budget.closed.load(Relaxed)
            {
                return false;
            }
            let full = self.budget.used.load(Relaxed) > MOST_BYTES;
            if !full && due_ns <= monotonic_ns().saturating_add(ahead_ns) {
                return true;
            }
            for thread in 0..batches.len() {
                self.give(thread, batches);
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn give(&self, thread: usize, batches: &mut [Vec<Item>]) {
        if !batches[thread].is_empty() {
            // The receiver is gone only if the run has failed.
            let _ = self.queues[thread].send(std::mem::take(&mut batches[thread]));
        }
    }

    /// Sessions begin one after another, so their ids differ most in their last bits.
    fn thread_of(&self, session: u64) -> usize {
        let mixed = session.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        mixed as usize % self.queues.len()
    }

    fn classes(&self) -> HashMap<u64, usize> {
        let classes = self.plan.classes.iter();
        classes
            .filter_map(|(class, op)| Some((u64::from_str_radix(class, 16).ok()?, *op)))
            .collect()
    }
}
