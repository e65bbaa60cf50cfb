//! A driver thread of a replay: the connections of its sessions, and who gives them their
//! statements.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use dyno_record::{Control, Result};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use super::feed::{Budget, Item, Next};
use super::plan::ReplayPlan;
use super::session::{Server, run};
use crate::alarm::Alarm;
use crate::recorder::{Message, Recorder};
use crate::run::Signals;
use crate::thread::{died, ended_in_time, on_runtime, reported, supervise};
use crate::user::{Shared, Starts};
use crate::window::Window;
use crate::wire::{Session as _, Verbatim, Wire};

/// Pause between two looks at whether the run is over.
const LOOK: Duration = Duration::from_millis(20);

/// Input of a thread.
pub struct Hand<'a, W> {
    pub plan: &'a ReplayPlan,
    pub wire: W,
    pub control: &'a Control,
    pub signals: &'a Signals,
    /// To the aggregating thread.
    pub out: Sender<Message>,
    /// Receives the time line once all threads are connected.
    pub go: Receiver<Window>,
    /// Receives the statements.
    pub items: UnboundedReceiver<Vec<Item>>,
    /// To and from the reading thread, in one of the threads.
    pub reading: Option<Reading>,
    /// Threads with sessions that have not ended.
    pub working: &'a AtomicU32,
    pub budget: Arc<Budget>,
}

/// The channels of one thread with the reading thread.
pub struct Reading {
    /// Told when the first statement was read.
    pub found: Receiver<()>,
    /// Receives the time line.
    pub begin: Sender<Window>,
}

impl Reading {
    /// Waits until the first statement was read, or the run is over.
    fn wait(&self, control: &Control, signals: &Signals) {
        while let Err(RecvTimeoutError::Timeout) = self.found.recv_timeout(LOOK) {
            if control.is_cancelled() || signals.abort.load(Relaxed) {
                break;
            }
        }
    }
}

impl<W: Wire<Session: Verbatim>> Hand<'_, W> {
    /// Runs the thread. Sends failures to the aggregating thread.
    pub fn run(self) {
        let out = self.out.clone();
        reported(&out, || on_runtime(|alarm| self.drive(alarm)));
    }

    async fn drive(self, alarm: Alarm) -> Result<()> {
        let Self { plan, wire, control, signals, out, go, items, reading, working, budget } = self;
        let server = Rc::new(Server { wire, writes: plan.select.writes, alarm: alarm.clone() });
        // Whether the server can be reached is known before anything is due.
        server.connect().await?.close().await;
        if let Some(reading) = &reading {
            reading.wait(control, signals);
        }
        let _ = out.send(Message::Ready);
        // Blocks the runtime, which has no other work yet.
        let Ok(window) = go.recv() else { return Ok(()) };
        if let Some(reading) = reading {
            // The reading thread is gone only if the run has failed.
            let _ = reading.begin.send(window);
        }
        let recorder = Recorder::new(window, plan.operations.len(), out.clone());
        let shared = Rc::new(Shared {
            alarm,
            recorder: RefCell::new(recorder),
            window: Cell::new(window),
            clock: plan.clock,
            starts: Starts::Closed { think: false },
            stopping: Cell::new(false),
            cut: Notify::new(),
            busy: Cell::new(0),
            alive: Cell::new(1),
            max_retries: 0,
            reconnect_ns: (plan.reconnect_s * 1e9) as u64,
            out: out.clone(),
        });
        let ended = Rc::new(Cell::new(false));
        let mut tasks = JoinSet::new();
        let done = Rc::clone(&ended);
        tasks.spawn_local(dispatch(items, server, Rc::clone(&shared), budget, done));
        let all_ended = async {
            while !ended.get() {
                shared.alarm.sleep_until(dyno_record::monotonic_ns() + 10_000_000).await;
            }
            if working.fetch_sub(1, Relaxed) == 1 {
                // The last statement of the last thread has ended, and so does the window.
                control.finish();
            }
            std::future::pending::<()>().await;
        };
        let cpu_ns = tokio::select! {
            cpu_ns = supervise(&shared, control, signals) => cpu_ns,
            () = all_ended => 0,
        };
        ended_in_time(&shared, &mut tasks, control, signals).await?;
        let mut report = std::mem::take(&mut shared.recorder.borrow_mut().report);
        report.cpu_ns = cpu_ns;
        let _ = out.send(Message::Finished(Box::new(report)));
        Ok(())
    }
}

/// Gives statements to the tasks of their sessions; ends when all sessions have ended.
async fn dispatch<W: Wire<Session: Verbatim>>(
    mut items: UnboundedReceiver<Vec<Item>>,
    server: Rc<Server<W>>,
    shared: Rc<Shared>,
    budget: Arc<Budget>,
    ended: Rc<Cell<bool>>,
) {
    let mut queues: HashMap<u64, UnboundedSender<Next>> = HashMap::new();
    let mut sessions = JoinSet::new();
    while let Some(batch) = items.recv().await {
        for (session, next) in batch {
            let ends = matches!(next, Next::Close(_));
            let queue = queues.entry(session).or_insert_with(|| {
                let (queue, nexts) = unbounded_channel();
                let (server, shared) = (Rc::clone(&server), Rc::clone(&shared));
                sessions.spawn_local(run(nexts, server, shared, Arc::clone(&budget)));
                queue
            });
            // The task lives as long as its queue, unless it panicked.
            let _ = queue.send(next);
            if ends {
                // Its id may come again.
                queues.remove(&session);
            }
        }
        while let Some(one) = sessions.try_join_next() {
            fail_on_panic(&shared, &one);
        }
    }
    queues.clear();
    while let Some(one) = sessions.join_next().await {
        fail_on_panic(&shared, &one);
    }
    ended.set(true);
}

fn fail_on_panic(shared: &Shared, ended: &Result<(), tokio::task::JoinError>) {
    if ended.is_err() {
        let _ = shared.out.send(Message::Failed(died()));
    }
}
