//! Reads a log ahead of its replay, a bounded time and a bounded number of bytes, and gives each
//! statement to the thread of its session.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use dyno_record::{Control, Result, monotonic_ns};
use tokio::sync::mpsc::UnboundedSender;

use super::chosen::{Chosen, Found};
use super::log::changed;
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
pub const MOST_AHEAD_S: f64 = 300.0;
/// Statements given at once, and the entries left out after which fewer are given.
const BATCH: usize = 256;
const MOST_SKIPPED: u32 = 4_096;
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

/// What a session does next.
#[derive(Debug)]
pub enum Next {
    /// It runs a statement.
    Run(Work),
    /// It closes at this monotonic time.
    Close(u64),
}

/// What a thread gets: for a session, what it does next.
pub type Item = (u64, Next);

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
    /// Told when the first statement to replay has been read, or that there is none.
    pub found: Sender<()>,
    /// Receives the time line when the threads are connected.
    pub start: Receiver<Window>,
}

/// Items on their way to the driver threads.
struct Batches {
    /// To the driver threads.
    queues: Vec<UnboundedSender<Vec<Item>>>,
    items: Vec<Vec<Item>>,
    /// Entries left out since all were given.
    skipped: u32,
}

impl Batches {
    fn new(queues: Vec<UnboundedSender<Vec<Item>>>) -> Self {
        let items = queues.iter().map(|_| Vec::new()).collect();
        Self { queues, items, skipped: 0 }
    }

    fn add(&mut self, session: u64, next: Next) {
        let thread = self.thread_of(session);
        self.items[thread].push((session, next));
        if self.items[thread].len() >= BATCH {
            self.give(thread);
        }
    }

    /// Counts an entry that is left out. True now and then, when the items before it are given.
    fn skip(&mut self) -> bool {
        self.skipped += 1;
        if self.skipped < MOST_SKIPPED {
            return false;
        }
        self.give_all();
        true
    }

    fn give_all(&mut self) {
        self.skipped = 0;
        for thread in 0..self.queues.len() {
            self.give(thread);
        }
    }

    fn give(&mut self, thread: usize) {
        if !self.items[thread].is_empty() {
            // The receiver is gone only if the run has failed.
            let _ = self.queues[thread].send(std::mem::take(&mut self.items[thread]));
        }
    }

    /// Sessions begin one after another, so their ids differ most in their last bits.
    fn thread_of(&self, session: u64) -> usize {
        let mixed = session.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        mixed as usize % self.queues.len()
    }
}

impl Feed<'_> {
    /// Reads until the end of the log or of the replay.
    ///
    /// # Errors
    /// Those of [`Chosen::next`]; `usage` if the log ends with another number of statements than was
    /// planned.
    pub fn run(mut self) -> Result<()> {
        let mut batches = Batches::new(std::mem::take(&mut self.queues));
        // What is left out before it may be long, and the replay begins with it.
        let mut first = self.first(&mut batches)?;
        let _ = self.found.send(());
        // Nothing was begun if a thread could not connect.
        let Ok(window) = self.start.recv() else { return Ok(()) };
        let classes = self.classes();
        let other = self.plan.operations.len() - 1;
        let longest_s = self.plan.longest_s / self.plan.speed;
        let ahead_ns = ((AHEAD_S + longest_s).min(MOST_AHEAD_S) * 1e9) as u64;
        let last_ns = (self.plan.duration_s * 1e9) as u64;
        let speed = self.plan.speed;
        let due_ns = |at_ns: i64, first_ns: i64| {
            let after_ns = at_ns.saturating_sub(first_ns).max(0) as f64 / speed;
            window.start_ns.saturating_add((after_ns as u64).min(last_ns))
        };
        let mut first_ns = self.plan.select.first_ns;
        let mut fed = 0;
        loop {
            let next = if first.is_some() { first.take() } else { self.chosen.next()? };
            let Some(found) = next else { break };
            match found {
                Found::Left { .. } | Found::Nothing => {
                    if batches.skip() && self.is_over() {
                        return Ok(());
                    }
                }
                Found::End { session, at_ns, .. } => {
                    let at_ns = at_ns.zip(first_ns).map_or(0, |(at, first)| due_ns(at, first));
                    batches.add(session, Next::Close(at_ns));
                }
                Found::Run { at_ns, session, ran, class, .. } => {
                    let work = Work {
                        due_ns: due_ns(at_ns, *first_ns.get_or_insert(at_ns)),
                        op: classes.get(&class.1).copied().unwrap_or(other),
                        sql: ran.sql,
                        parameters: ran.parameters,
                    };
                    if !self.wait(work.due_ns, ahead_ns, &mut batches) {
                        return Ok(());
                    }
                    self.budget.used.fetch_add(work.bytes(), Relaxed);
                    batches.add(session, Next::Run(work));
                    fed += 1;
                }
            }
        }
        batches.give_all();
        // The last statement ends the replay only after this.
        if fed != self.plan.statements && !self.is_over() {
            return Err(changed().context(self.plan.select.log.display().to_string()));
        }
        Ok(())
    }

    /// The first statement to replay; None if there is none, or the replay is over before.
    fn first(&mut self, batches: &mut Batches) -> Result<Option<Found>> {
        while let Some(found) = self.chosen.next()? {
            if matches!(found, Found::Run { .. }) {
                return Ok(Some(found));
            }
            if batches.skip() && self.is_over() {
                break;
            }
        }
        Ok(None)
    }

    fn is_over(&self) -> bool {
        self.control.is_cancelled()
            || self.control.is_finishing()
            || self.budget.closed.load(Relaxed)
    }

    /// Waits until a statement is near and there is memory for it. False at the end of the replay.
    fn wait(&self, due_ns: u64, ahead_ns: u64, batches: &mut Batches) -> bool {
        loop {
            if self.is_over() {
                return false;
            }
            let full = self.budget.used.load(Relaxed) > MOST_BYTES;
            if !full && due_ns <= monotonic_ns().saturating_add(ahead_ns) {
                return true;
            }
            batches.give_all();
            std::thread::sleep(PAUSE);
        }
    }

    fn classes(&self) -> HashMap<u64, usize> {
        let classes = self.plan.classes.iter();
        classes
            .filter_map(|(class, op)| Some((u64::from_str_radix(class, 16).ok()?, *op)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc::unbounded_channel;

    #[test]
    fn statements_do_not_wait_while_entries_are_left_out() {
        let (queue, mut given) = unbounded_channel();
        let mut batches = Batches::new(vec![queue]);
        batches.add(1, Next::Close(0));
        for _ in 1..MOST_SKIPPED {
            assert!(!batches.skip());
        }
        assert!(given.try_recv().is_err());
        assert!(batches.skip());
        assert_eq!(given.try_recv().unwrap().len(), 1);
        assert!(!batches.skip(), "it counts anew");
    }

    #[test]
    fn a_full_batch_is_given_at_once() {
        let (queue, mut given) = unbounded_channel();
        let mut batches = Batches::new(vec![queue]);
        for _ in 0..BATCH {
            batches.add(1, Next::Close(0));
        }
        assert_eq!(given.try_recv().unwrap().len(), BATCH);
    }
}
