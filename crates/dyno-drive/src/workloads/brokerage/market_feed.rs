//! Market-Feed: for each security a transaction that records its price and submits the limit orders
//! that this triggers, in two round trips.

use dyno_record::Result;

use super::exchange::Tick;
use super::statements::{FORGET_REQUEST, RECORD_PRICE, RECORD_SUBMITTED, SUBMIT, TRIGGERED};
use crate::wire::{Access, Session, Value};

/// Runs the transaction of a security; returns the trades that it submitted.
pub async fn run<S: Session>(session: &mut S, tick: &Tick, unix_us: i64) -> Result<Vec<i64>> {
    let Tick { symbol, cents, shares } = tick;
    let (symbol, price) = (Value::Text(symbol.text()), Value::cents(*cents));
    let now = Value::Timestamp(unix_us);
    session.queue_begin(Access::Write);
    session.queue(RECORD_PRICE, &[price, Value::Int(*shares), now, symbol]);
    let slot = session.queue(TRIGGERED, &[symbol, price]);
    session.flush().await?;
    let trades: Vec<i64> =
        (0..session.rows(slot)).map(|row| session.int(slot, row, 0)).collect::<Result<_>>()?;
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
    use crate::Mode;
    use crate::alarm::Alarm;
    use crate::wire::sqlite::Sqlite;
    use crate::wire::{Dialect, Statement, Wire};
    use crate::workloads::brokerage::order::{Kind, Order, Symbol};
    use crate::workloads::brokerage::{Drawn, Params, dialects, statements};
    use crate::workloads::contract::{Params as _, TxnOutcome, Workload as _};
    use dyno_record::ErrorKind;
    use rusqlite::Connection;
    use serde_json::json;
    use std::path::PathBuf;

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

    /// A database with the tables of a Market-Feed: two securities, and order 7 for one of them.
    struct Market {
        path: PathBuf,
        file: Connection,
    }

    impl Market {
        fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("dyno-feed-{name}-{}.db", std::process::id()));
            let file = Connection::open(&path).unwrap();
            file.execute_batch(
                "create table last_trade (lt_s_symb text, lt_price int, lt_vol int, lt_dts text);
                 create table trade (t_id integer, t_dts text, t_st_id text);
                 create table trade_history (th_t_id integer, th_dts text, th_st_id text);
                 create table trade_request (tr_t_id integer, tr_tt_id text, tr_s_symb text, \
                 tr_bid_price int);
                 insert into last_trade values ('ABCD', 2000, 0, ''), ('EFGH', 2000, 0, '');
                 insert into trade values (7, '1970-01-01 00:00:02.000000', 'PNDG');
                 insert into trade_history values (7, '1970-01-01 00:00:02.000000', 'PNDG');
                 insert into trade_request values (7, 'TLB', 'ABCD', 2000);",
            )
            .unwrap();
            Self { path, file }
        }

        fn text(&self, sql: &str) -> String {
            self.file.query_row(sql, [], |row| row.get(0)).unwrap()
        }

        /// What `work` returns for a session with this database.
        fn with<T>(&self, work: impl AsyncFnOnce(&mut <Sqlite as Wire>::Session) -> T) -> T {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            tokio::task::LocalSet::new().block_on(&runtime.unwrap(), async {
                let wire = Sqlite::new(serde_json::from_value(json!({"path": self.path})).unwrap());
                let mut session = wire.connect(&of_feed(), &Alarm::new().unwrap()).await.unwrap();
                let result = work(&mut session).await;
                session.close().await;
                result
            })
        }
    }

    impl Drop for Market {
        fn drop(&mut self) {
            _ = std::fs::remove_file(&self.path);
        }
    }

    fn tick(symbol: &str, shares: i32) -> Tick {
        Tick { symbol: Symbol::new(symbol), cents: 2_000, shares }
    }

    #[test]
    fn an_order_that_began_after_the_feed_is_not_submitted_before_it_began() {
        let market = Market::new("began");
        // The feed began a second before the order, and this is its second attempt.
        let submitted =
            market.with(async |session| run(session, &tick("ABCD", 0), 1_000_000).await.unwrap());
        assert_eq!(submitted, [7]);
        let times = "select (select t_dts from trade) || ' ' || max(th_dts) || count(*) \
                     from trade_history";
        let began = "1970-01-01 00:00:02.000000";
        assert_eq!(market.text(times), format!("{began} {began}2"));
    }

    #[test]
    fn another_attempt_continues_after_the_securities_that_are_committed() {
        let market = Market::new("again");
        market
            .file
            .execute_batch(
                "create trigger broken before update on last_trade when new.lt_s_symb = 'EFGH' \
                 begin select raise(abort, 'it failed'); end;",
            )
            .unwrap();
        let params =
            Params { scale: 0.1, days: 10, seed: 1, mode: Mode::Client, step_ms: Some(10_000) };
        let mut terminal = params.workload(1).unwrap().terminal(0);
        terminal.drawn = Some(Drawn::MarketFeed(vec![tick("EFGH", 300), tick("ABCD", 100)]));
        let failed = market.with(async |session| terminal.run(session, 3_000_000).await);
        assert_eq!(failed.unwrap_err().kind, ErrorKind::Database);
        let volumes = "select group_concat(lt_vol) from last_trade";
        let submitted = "select count(*) || t_st_id from trade_history, trade";
        assert_eq!([market.text(volumes), market.text(submitted)], ["100,0", "2SBMT"]);

        market.file.execute_batch("drop trigger broken").unwrap();
        let done = market.with(async |session| terminal.run(session, 3_000_000).await);
        assert_eq!(done.unwrap(), TxnOutcome::Committed);
        assert_eq!([market.text(volumes), market.text(submitted)], ["100,300", "2SBMT"]);
        // The exchange knows that the order is submitted: its user may report it now.
        let order = Order { trade: 7, kind: Kind::LimitBuy, ..Order::default() };
        terminal.house.exchange.take(order, 0);
        assert!(terminal.house.exchange.due(9_000_000_000).is_some());
    }
}
