//! A session of a log in its own connection.

use std::rc::Rc;
use std::sync::Arc;

use dyno_record::{Error, ErrorKind, Result, monotonic_ns};
use tokio::sync::mpsc::UnboundedReceiver;

use super::feed::{Budget, Next, Work};
use crate::alarm::Alarm;
use crate::recorder::{Fate, Message};
use crate::user::Shared;
use crate::wire::{Dialect, Session as _, Verbatim, Wire};
use crate::workloads::contract::TxnOutcome;

/// Pause between two attempts to connect.
const RETRY_NS: u64 = 100_000_000;
/// How long before its statement is due a session connects, unless the replay has just begun.
/// Statements arrive earlier, and many sessions would be open too long.
const CONNECT_NS: u64 = 250_000_000;

/// Sessions of the driver have a zone and short lock waits of their own; those of the log had the
/// server's, unless they set others.
const AS_SERVER: &str = "SET SESSION time_zone = @@GLOBAL.time_zone, \
                         innodb_lock_wait_timeout = @@GLOBAL.innodb_lock_wait_timeout, \
                         lock_wait_timeout = @@GLOBAL.lock_wait_timeout";

/// Opens connections as a replay needs them.
#[derive(Debug)]
pub struct Server<W> {
    pub wire: W,
    /// Whether sessions may change data.
    pub writes: bool,
    pub alarm: Alarm,
}

impl<W: Wire<Session: Verbatim>> Server<W> {
    /// Opens a connection and prepares its session.
    ///
    /// # Errors
    /// Those of [`Wire::connect`].
    pub async fn connect(&self) -> Result<W::Session> {
        let mut session = self.wire.connect(&[], &self.alarm).await?;
        session.allow_several().await?;
        for statement in self.preparing() {
            session.verbatim(statement, None).await?;
        }
        Ok(session)
    }

    /// Statements in a new session. Reading a statement relies on the form of literals.
    fn preparing(&self) -> &'static [&'static str] {
        match (W::DIALECT, self.writes) {
            (Dialect::Postgres, true) => &["SET standard_conforming_strings = on"],
            (Dialect::Postgres, false) => {
                &["SET standard_conforming_strings = on", "SET default_transaction_read_only = on"]
            }
            (Dialect::Mysql, true) => &[AS_SERVER],
            (Dialect::Mysql, false) => &[AS_SERVER, "SET SESSION TRANSACTION READ ONLY"],
            (Dialect::Sqlite | Dialect::Mssql, _) => &[],
        }
    }
}

/// Sends the statements of a session in order, each when it is due or as soon as the one before it
/// has ended; then closes it when it was closed in the log.
pub async fn run<W: Wire<Session: Verbatim>>(
    mut nexts: UnboundedReceiver<Next>,
    server: Rc<Server<W>>,
    shared: Rc<Shared>,
    budget: Arc<Budget>,
) {
    let mut session: Option<W::Session> = None;
    let mut known = true;
    while let Some(next) = nexts.recv().await {
        let work = match next {
            Next::Run(work) => work,
            Next::Close(at_ns) => {
                if session.is_some() && !shared.stopping.get() {
                    shared.alarm.sleep_until(at_ns).await;
                }
                break;
            }
        };
        budget.give_back(&work);
        let mut refusal = None;
        if session.is_none() {
            let early_ns = work.due_ns.saturating_sub(CONNECT_NS);
            if early_ns > shared.window.get().start_ns {
                shared.alarm.sleep_until(early_ns).await;
            }
        }
        if session.is_none() && !shared.stopping.get() {
            match connected(&server, &shared).await {
                Ok(opened) => session = Some(opened),
                Err(error) => refusal = Some(error),
            }
        }
        let Some(sent_ns) = start(&shared, &work).await else { continue };
        shared.busy.set(shared.busy.get() + 1);
        let result = match (&mut session, refusal) {
            (Some(session), _) => session.verbatim(&work.sql, work.parameters.as_deref()).await,
            (None, Some(error)) => Err(error),
            (None, None) => Err(Error::new(ErrorKind::ConnectionLost, "the connection is lost")),
        };
        let end_ns = monotonic_ns();
        shared.busy.set(shared.busy.get() - 1);
        known = record(&shared, &work, (sent_ns, end_ns), &result);
        if !known {
            session = None;
        }
        // A target that responds at once must not starve the thread's other tasks.
        tokio::task::coop::consume_budget().await;
    }
    shared.recorder.borrow_mut().report.connected += u64::from(known);
    if let Some(session) = session {
        session.close().await;
    }
}

/// Counts a statement that has ended; false if its connection is lost.
fn record(
    shared: &Shared,
    work: &Work,
    (sent_ns, end_ns): (u64, u64),
    result: &Result<()>,
) -> bool {
    let mut recorder = shared.recorder.borrow_mut();
    match result {
        Ok(()) => {
            let (response_ns, service_ns) = (end_ns - work.due_ns, end_ns - sent_ns);
            recorder.ended(work.op, end_ns, response_ns, service_ns, TxnOutcome::Committed);
            true
        }
        Err(error) => {
            recorder.failed(work.op, end_ns, error);
            error.kind != ErrorKind::ConnectionLost
        }
    }
}

/// Opens a connection. While the server cannot be reached, tries again for a while; then the replay
/// fails.
async fn connected<W: Wire<Session: Verbatim>>(
    server: &Server<W>,
    shared: &Shared,
) -> Result<W::Session> {
    let until_ns = monotonic_ns() + shared.reconnect_ns;
    loop {
        let error = match server.connect().await {
            Ok(session) => return Ok(session),
            Err(error) => error,
        };
        let gone = matches!(error.kind, ErrorKind::Unreachable | ErrorKind::ConnectionLost);
        if !gone || shared.stopping.get() {
            return Err(error);
        }
        shared.recorder.borrow_mut().first(&error);
        if monotonic_ns() >= until_ns {
            let message = "the server was lost and did not come back";
            let lost = Error::new(ErrorKind::ConnectionLost, message).context(error.to_string());
            let _ = shared.out.send(Message::Failed(lost));
            return Err(error);
        }
        shared.alarm.sleep_until(monotonic_ns() + RETRY_NS).await;
    }
}

/// Waits until a statement is due. Returns when it is sent; None if the replay has ended before.
async fn start(shared: &Shared, work: &Work) -> Option<u64> {
    let due_ns = work.due_ns;
    let paced = monotonic_ns() < due_ns;
    if paced {
        shared.alarm.sleep_until(due_ns).await;
    }
    let sent_ns = monotonic_ns();
    let over = shared.stopping.get() || sent_ns >= shared.window.get().end_ns;
    let mut recorder = shared.recorder.borrow_mut();
    recorder.due(
        due_ns,
        match (over, paced) {
            (true, _) => Fate::Unsent,
            (false, true) => Fate::OnTime,
            (false, false) => Fate::Late,
        },
    );
    if paced {
        recorder.lag(due_ns, sent_ns.saturating_sub(due_ns));
    } else {
        shared.lag_of_stall(&mut recorder, due_ns, sent_ns);
    }
    if over {
        return None;
    }
    recorder.begun(due_ns);
    recorder.report.schedule_late.record(sent_ns.saturating_sub(due_ns));
    Some(sent_ns)
}
