//! Trade-Cleanup: before a level, what earlier ones left unfinished is cancelled.

use dyno_record::Result;

use super::statements::{
    CANCEL, CANCEL_REQUESTED, FORGET_REQUESTS, LAST_TRADE, RECORD_CANCELLED, RECORD_REQUESTED,
    SUBMIT_PENDING,
};
use crate::wire::{Access, Session, Value};

/// Runs it once; returns the number of the next trade. Trades up to `last_loaded` are complete, but
/// for their open limit orders.
pub async fn run<S: Session>(session: &mut S, last_loaded: i64, unix_us: i64) -> Result<i64> {
    let now = Value::Timestamp(unix_us);
    session.queue_begin(Access::Write);
    session.queue(SUBMIT_PENDING, &[now]);
    session.queue(RECORD_REQUESTED, &[now]);
    session.queue(CANCEL_REQUESTED, &[now]);
    session.queue(RECORD_CANCELLED, &[now, Value::BigInt(last_loaded)]);
    session.queue(CANCEL, &[now, Value::BigInt(last_loaded)]);
    session.queue(FORGET_REQUESTS, &[]);
    let last = session.queue(LAST_TRADE, &[]);
    session.queue_commit();
    session.flush().await?;
    let none = session.rows(last) == 0 || session.is_null(last, 0, 0)?;
    Ok(if none { 1 } else { session.int(last, 0, 0)? + 1 })
}
