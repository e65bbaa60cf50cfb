//! Order entry: its effects, and its retries.

use dyno_record::ErrorKind;
use serde_json::json;

use super::conditions::violations;
use super::server::Server;
use super::{load_tpcc, number, run};

#[test]
fn loaded_driven_and_consistent() {
    let Some(server) = Server::start(&[]) else { return };
    let loaded = load_tpcc(&server, 2);
    for table in &loaded.tables {
        let rows = number(&server, &format!("select count(*) from {}", table.table));
        assert_eq!(rows, table.rows, "{}", table.table);
    }
    assert_eq!(loaded.tables.len(), 9);
    assert!(violations(&server).is_empty(), "after load: {:?}", violations(&server));

    let orders = || number(&server, "select count(*) from orders");
    let (orders_before, payments_before) =
        (orders(), number(&server, "select count(*) from history"));
    let outcome = run(&server, "clean", &json!({"users": 8, "duration_s": 3})).unwrap();
    assert!(violations(&server).is_empty(), "after run: {:?}", violations(&server));
    assert!(outcome.errors_first.is_empty(), "{:?}", outcome.errors_first);
    assert_eq!(outcome.ops.len(), 5);

    // The counted work was done, and nothing else except work in progress at the end.
    let new_orders = &outcome.ops["new_order"];
    let made = orders() - orders_before;
    assert!((new_orders.done..=new_orders.done + outcome.unfinished).contains(&made));
    let paid = number(&server, "select count(*) from history") - payments_before;
    let payments = outcome.ops["payment"].done;
    assert!((payments..=payments + outcome.unfinished).contains(&paid));
    let delivered = number(&server, "select count(*) from orders where o_carrier_id is not null");
    assert!(delivered >= 2 * 10 * 2100 + outcome.ops["delivery"].done * 10);
    // One in a hundred; a slow machine may need several runs for one of them.
    let mut rolled_back = new_orders.rolled_back;
    for seed in 100..120 {
        if rolled_back > 0 {
            break;
        }
        let more = run(&server, "more", &json!({"users": 8, "seed": seed})).unwrap();
        rolled_back += more.ops["new_order"].rolled_back;
    }
    assert!(rolled_back > 0);

    // Stock and customers of other warehouses are changed, each where it is stored.
    let remote = "select count(*) from order_line where ol_supply_w_id <> ol_w_id";
    let remote_lines = number(&server, remote);
    assert!(remote_lines > 0);
    assert_eq!(number(&server, "select sum(s_remote_cnt) from stock"), remote_lines);
    assert!(number(&server, "select count(*) from history where h_c_w_id <> h_w_id") > 0);
    assert_eq!(number(&server, "select count(distinct o_w_id) from orders where o_id > 3000"), 2);
    let sold = "select sum(ol_quantity) from order_line where (ol_w_id, ol_d_id, ol_o_id) in \
                (select o_w_id, o_d_id, o_id from orders where o_id > 3000)";
    assert_eq!(number(&server, "select sum(s_ytd) from stock"), number(&server, sold));
    // Customers with bad credit have the payment recorded in their data.
    let told = "select count(*) from customer where c_credit = 'BC' and c_data like '% | %'";
    assert!(number(&server, told) > 0);

    assert_eq!(failure_of_wrong_size(&server), ErrorKind::Database);
    let open = json!({"loop": {"kind": "open", "rate_per_s": 100, "poisson": true}, "threads": 2});
    let open = run(&server, "open", &open).unwrap();
    let ended: u64 = open.ops.values().map(|op| op.done + op.rolled_back).sum();
    assert_eq!(open.scheduled.unwrap() + open.carried_over, ended + open.unfinished + open.unsent);

    assert!((0..3).all(|seed| warehouses_used(&server, "fixed", seed) <= 1));
    // A slow machine may complete only one order.
    assert!((0..20).any(|seed| warehouses_used(&server, "all", seed) == 2));
    assert!((0..20).any(|seed| warehouses_used(&server, "random", seed) == 2));
}

/// More warehouses than exist: transactions fail, the run does not.
fn failure_of_wrong_size(server: &Server) -> ErrorKind {
    let outcome = run(server, "size", &json!({"warehouses": 40, "duration_s": 0.3})).unwrap();
    let failed: u64 = outcome.ops.values().flat_map(|op| op.errors.values()).sum();
    assert!(failed > 0);
    assert_eq!(outcome.errors_first.len(), 1, "{:?}", outcome.errors_first);
    *outcome.errors_first.keys().next().unwrap()
}

/// Number of warehouses in one user's new orders.
fn warehouses_used(server: &Server, home: &str, seed: u64) -> usize {
    let numbers = || {
        server.psql("tpcc", "select sum(d_next_o_id) from district group by d_w_id order by d_w_id")
    };
    let before = numbers();
    let changes = json!({"users": 1, "home": home, "seed": seed, "duration_s": 0.2});
    run(server, home, &changes).unwrap();
    let after = numbers();
    before.lines().zip(after.lines()).filter(|(before, after)| before != after).count()
}

#[test]
fn serialisation_failures_are_retried_and_counted_apart() {
    let Some(server) = Server::start(&["default_transaction_isolation = serializable"]) else {
        return;
    };
    load_tpcc(&server, 1);
    let changes = json!({"users": 8, "warehouses": 1, "max_retries": 100});
    let outcome = run(&server, "serial", &changes).unwrap();
    let retries: u64 = outcome.ops.values().flat_map(|op| op.retries.values()).sum();
    assert!(retries > 0);
    let kinds: Vec<_> = outcome.errors_first.keys().collect();
    assert_eq!(kinds, [&ErrorKind::Serialization]);
    assert!(outcome.ops.values().all(|op| op.errors.is_empty()));
    assert!(violations(&server).is_empty(), "{:?}", violations(&server));

    let changes = json!({"users": 8, "warehouses": 1, "max_retries": 0, "duration_s": 1});
    let outcome = run(&server, "no-retries", &changes).unwrap();
    let failed: u64 = outcome.ops.values().flat_map(|op| op.errors.values()).sum();
    assert!(failed > 0);
    assert!(outcome.ops.values().all(|op| op.retries.is_empty()));
    assert!(violations(&server).is_empty(), "{:?}", violations(&server));
}
