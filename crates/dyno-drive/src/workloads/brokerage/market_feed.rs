//! Market-Feed: records prices and submits the limit orders that they trigger, in two round trips.

use dyno_record::Result;

use super::exchange::Tick;
use super::statements::{FORGET_REQUEST, RECORD_PRICE, RECORD_SUBMITTED, SUBMIT, TRIGGERED};
use crate::wire::{Access, Session, Slot, Value};

/// Runs it once; returns the trades that it submitted.
pub async fn run<S: Session>(session: &mut S, ticks: &[Tick], unix_us: i64) -> Result<Vec<i64>> {
    let now = Value::Timestamp(unix_us);
    session.queue_begin(Access::Write);
    let mut asked: Vec<Slot> = Vec::with_capacity(ticks.len());
    for Tick { symbol, cents, shares } in ticks {
        let (symbol, price) = (Value::Text(symbol.text()), Value::cents(*cents));
        session.queue(RECORD_PRICE, &[price, Value::Int(*shares), now, symbol]);
        asked.push(session.queue(TRIGGERED, &[symbol, price]));
    }
    session.flush().await?;
    let mut trades = Vec::new();
    for slot in asked {
        for row in 0..session.rows(slot) {
            trades.push(session.int(slot, row, 0)?);
        }
    }
    for trade in &trades {
        let trade = Value::BigInt(*trade);
        session.queue(SUBMIT, &[now, trade]);
        session.queue(FORGET_REQUEST, &[trade]);
        session.queue(RECORD_SUBMITTED, &[trade]);
    }
    session.queue_commit();
    session.flush().await?;
    Ok(trades)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alarm::Alarm;
    use crate::wire::sqlite::Sqlite;
    use crate::wire::{Dialect, Statement, Wire as _};
    use crate::workloads::brokerage::order::Symbol;
    use crate::workloads::brokerage::{dialects, statements};
    use rusqlite::Connection;
    use serde_json::json;

    /// The statements of a Market-Feed; the others do nothing, so that they need no tables.
    fn of_feed() -> Vec<Statement> {
        let needed =
            [RECORD_PRICE, TRIGGERED, SUBMIT, FORGET_REQUEST, RECORD_SUBMITTED].map(|id| id.0);
        let mut all = dialects::put(Dialect::Sqlite, statements::all());
        for (number, statement) in (0u16..).zip(&mut all) {
            if !needed.contains(&number) {
                (statement.sql, statement.params, statement.returns) =
                    ("delete from trade where 0".into(), &[], &[]);
            }
        }
        all
    }

    #[test]
    fn an_order_that_began_after_the_feed_is_not_submitted_before_it_began() {
        let path = std::env::temp_dir().join(format!("dyno-feed-{}.db", std::process::id()));
        let file = Connection::open(&path).unwrap();
        file.execute_batch(
            "create table last_trade (lt_s_symb text, lt_price int, lt_vol int, lt_dts text);
             create table trade (t_id integer, t_dts text, t_st_id text);
             create table trade_history (th_t_id integer, th_dts text, th_st_id text);
             create table trade_request (tr_t_id integer, tr_tt_id text, tr_s_symb text, \
             tr_bid_price int);
             insert into last_trade values ('ABCD', 2000, 0, '');
             insert into trade values (7, '1970-01-01 00:00:02.000000', 'PNDG');
             insert into trade_history values (7, '1970-01-01 00:00:02.000000', 'PNDG');
             insert into trade_request values (7, 'TLB', 'ABCD', 2000);",
        )
        .unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let submitted = tokio::task::LocalSet::new().block_on(&runtime, async {
            let wire = Sqlite::new(serde_json::from_value(json!({"path": path})).unwrap());
            let mut session = wire.connect(&of_feed(), &Alarm::new().unwrap()).await.unwrap();
            let tick = Tick { symbol: Symbol::new("ABCD"), cents: 2_000, shares: 0 };
            // The feed began a second before the order, and this is its second attempt.
            let submitted = run(&mut session, &[tick], 1_000_000).await.unwrap();
            session.close().await;
            submitted
        });
        let times: String = file
            .query_row(
                "select (select t_dts from trade) || ' ' || max(th_dts) || count(*) \
                 from trade_history",
                [],
                |row| row.get(0),
            )
            .unwrap();
        drop(file);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(submitted, [7]);
        assert_eq!(times, "1970-01-01 00:00:02.000000 1970-01-01 00:00:02.0000002");
    }
}
