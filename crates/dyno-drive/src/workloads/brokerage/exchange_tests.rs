use super::*;
use crate::workloads::brokerage::order::Kind;

const S: u64 = 1_000_000_000;
const OPEN_CENTS: i64 = 5_000;

fn order(trade: i64, kind: Kind, bid_cents: i64) -> Order {
    Order { trade, kind, bid_cents, symbol: Symbol::new("ABCD"), ..Order::default() }
}

/// Takes `count` market orders of another security.
fn take_others(exchange: &Exchange, count: i64, now_ns: u64) {
    for trade in 100..100 + count {
        let symbol = Symbol::new("OTHER");
        exchange.take(Order { symbol, ..order(trade, Kind::MarketBuy, 0) }, now_ns);
    }
}

fn next(exchange: &Exchange, now_ns: u64) -> Option<Task> {
    exchange.due(now_ns).map(|(_, task)| task)
}

#[test]
fn market_orders_execute_within_five_seconds_and_ten_make_a_feed() {
    let exchange = Exchange::new(1);
    take_others(&exchange, 10, 0);
    let mut results = 0;
    while let Some(Task::Result(_)) = next(&exchange, 5 * S) {
        results += 1;
    }
    assert_eq!(results, RESULTS_PER_FEED);
    assert_eq!(next(&exchange, 5 * S), None);
}

#[test]
fn delays_have_their_mean_and_no_task_is_early() {
    let exchange = Exchange::new(2);
    take_others(&exchange, 20_000, 0);
    let delays: Vec<u64> =
        exchange.state().due.iter().map(|Reverse((due_ns, _))| *due_ns).collect();
    let mean_s = delays.iter().sum::<u64>() as f64 / delays.len() as f64 / 1e9;
    // An exponential delay of 1 s, cut at 5 s: 1 − e⁻⁵.
    assert!((mean_s - 0.9933).abs() < 0.03, "{mean_s}");
    let first_ns = delays.iter().min().copied().unwrap();
    assert_eq!(next(&exchange, first_ns - 1), None);
    assert_eq!(exchange.due(first_ns + S).unwrap().0, first_ns, "due since its execution");
}

#[test]
fn a_limit_order_waits_for_its_feed() {
    let exchange = Exchange::new(3);
    exchange.take(order(7, Kind::LimitBuy, i64::MAX), 0);
    assert_eq!(next(&exchange, 9 * S), None);
    take_others(&exchange, 10, 0);
    for _ in 0..RESULTS_PER_FEED {
        assert!(matches!(next(&exchange, 9 * S), Some(Task::Result(_))));
    }
    let Some((due_ns, Task::Feed(ticks))) = exchange.due(9 * S) else { panic!("no feed") };
    assert!(due_ns < 6 * S, "due since the tenth execution");
    // Ten executions of one security are one price.
    assert_eq!(ticks.len(), 2);
    assert!(ticks.iter().any(|tick| tick.symbol == Symbol::new("ABCD") && tick.shares == 0));
    exchange.triggered(7, 9 * S);
    let Some(Task::Result(found)) = next(&exchange, 15 * S) else { panic!("no result") };
    assert_eq!(found.order.trade, 7);
}

#[test]
fn a_price_that_turned_since_it_reached_a_bid_still_triggers() {
    let exchange = Exchange::new(3);
    let symbol = Symbol::new("ABCD");
    // The lowest price of a period, and a minute later.
    let lowest_ns = (0..900 * S)
        .step_by(S as usize)
        .min_by_key(|at_ns| exchange.price(symbol, OPEN_CENTS, *at_ns))
        .unwrap();
    let bid_cents = exchange.price(symbol, OPEN_CENTS, lowest_ns);
    let begun_ns = lowest_ns.saturating_sub(20 * S);
    let bought = Order { reached_ns: lowest_ns, ..order(7, Kind::LimitBuy, bid_cents) };
    exchange.take(bought, begun_ns);
    take_others(&exchange, 10, lowest_ns);
    let later_ns = lowest_ns + 60 * S;
    assert!(exchange.price(symbol, OPEN_CENTS, later_ns) > bid_cents);
    for _ in 0..RESULTS_PER_FEED {
        assert!(matches!(next(&exchange, later_ns), Some(Task::Result(_))));
    }
    let Some(Task::Feed(ticks)) = next(&exchange, later_ns) else { panic!("no feed") };
    assert!(ticks.contains(&Tick { symbol, cents: bid_cents, shares: 0 }), "{ticks:?}");
}

/// Runs `orders_per_s` orders as customers make them, and all work of the exchange as soon as it is
/// due; returns orders and results from second `from` to second `to`.
fn run(orders_per_s: u64, (from, to): (u64, u64)) -> (u64, u64) {
    use crate::workloads::brokerage::{data::Data, inputs::Inputs};
    let exchange = Exchange::new(1);
    let data = Data::new(1.0, 1, 1).unwrap();
    let mut inputs = Inputs::new(Xoshiro256PlusPlus::seed_from_u64(1), data);
    // Rows of the table of open limit orders.
    let mut requests: Vec<Order> = Vec::new();
    let (mut orders, mut results) = (0, 0);
    for number in 0..to * orders_per_s {
        let now_ns = number * S / orders_per_s;
        let measured = u64::from(now_ns >= from * S);
        let input = inputs.trade_order();
        let reached_ns = now_ns + input.wait_ns;
        let order = Order {
            trade: number as i64 + 1,
            kind: input.kind,
            symbol: input.security,
            bid_cents: exchange.price(input.security, OPEN_CENTS, reached_ns),
            reached_ns,
            ..Order::default()
        };
        exchange.take(order, now_ns);
        orders += measured;
        if !order.kind.at_market() {
            requests.push(order);
        }
        while let Some(task) = next(&exchange, now_ns) {
            let Task::Feed(ticks) = task else {
                results += measured;
                continue;
            };
            requests.retain(|request| {
                let triggered = ticks.iter().any(|tick| {
                    tick.symbol == request.symbol
                        && request.kind.triggered(request.bid_cents, tick.cents)
                });
                if triggered {
                    exchange.triggered(request.trade, now_ns);
                }
                !triggered
            });
        }
    }
    (orders, results)
}

#[test]
fn each_order_has_its_result_soon_after_the_start() {
    for orders_per_s in [10, 200] {
        let (orders, results) = run(orders_per_s, (5, 65));
        let share = results as f64 / orders as f64;
        assert!((0.96..1.02).contains(&share), "{share} at {orders_per_s}/s");
    }
}

#[test]
fn lateness_counts_from_the_last_look_and_includes_what_is_due() {
    let exchange = Exchange::new(4);
    take_others(&exchange, 1, 0);
    assert!(next(&exchange, 15 * S).is_some());
    assert!(exchange.take_late_ns(15 * S) >= 10 * S);
    assert_eq!(exchange.take_late_ns(15 * S), 0);
    take_others(&exchange, 1, 20 * S);
    let late_ns = exchange.take_late_ns(32 * S);
    assert!((7 * S..=12 * S).contains(&late_ns), "due and not begun: {late_ns}");
    let task = next(&exchange, 32 * S).unwrap();
    assert_eq!(exchange.take_late_ns(33 * S), late_ns);
    assert_eq!(exchange.take_late_ns(34 * S), 0);
    // What has failed waits since then, also before somebody takes it again.
    exchange.failed(30 * S, 34 * S, task);
    assert_eq!(exchange.take_late_ns(35 * S), S);
    assert!(next(&exchange, 36 * S).is_some());
    assert_eq!(exchange.take_late_ns(36 * S), 2 * S);
}

#[test]
fn failed_tasks_come_again() {
    let exchange = Exchange::new(5);
    take_others(&exchange, 10, 0);
    let failed = next(&exchange, 5 * S).unwrap();
    exchange.failed(3 * S, 6 * S, failed.clone());
    assert_eq!(exchange.due(7 * S), Some((3 * S, failed)));
    for _ in 1..RESULTS_PER_FEED {
        assert!(matches!(next(&exchange, 7 * S), Some(Task::Result(_))));
    }
    let Some(feed @ Task::Feed(_)) = next(&exchange, 7 * S) else { panic!("no feed") };
    exchange.failed(6 * S, 7 * S, feed.clone());
    let Some(result) = next(&exchange, 7 * S).filter(|task| *task == feed) else {
        panic!("no feed again")
    };
    // The oldest comes first.
    exchange.failed(6 * S, 7 * S, result);
    exchange.failed(5 * S, 7 * S, Task::Feed(Vec::new()));
    assert_eq!(exchange.due(7 * S), Some((5 * S, Task::Feed(Vec::new()))));
    assert_eq!(exchange.due(7 * S), Some((6 * S, feed)));
    assert_eq!(next(&exchange, 7 * S), None);
}

#[test]
fn orders_of_a_feed_in_doubt_are_lost_until_a_feed_finds_them() {
    let exchange = Exchange::new(7);
    for (trade, bid_cents) in [(1, 2_000), (2, 2_000), (3, 1_000)] {
        exchange.take(order(trade, Kind::LimitBuy, bid_cents), 0);
    }
    assert_eq!(exchange.take_lost(), 0);
    let tick = Tick { symbol: Symbol::new("ABCD"), cents: 1_500, shares: 0 };
    exchange.doubt(&tick);
    exchange.doubt(&tick);
    // No feed asks for them again.
    assert_eq!(exchange.state().waiting.keys().collect::<Vec<_>>(), [&3]);
    exchange.triggered(2, 0);
    assert_eq!((exchange.take_lost(), exchange.take_lost()), (1, 0));
    let Some(Task::Result(found)) = next(&exchange, 9 * S) else { panic!("no result") };
    assert_eq!(found.order.trade, 2);
    assert_eq!(next(&exchange, 9 * S), None);
}

#[test]
fn an_order_that_is_lost_is_never_early() {
    let exchange = Exchange::new(8);
    exchange.lost(7);
    exchange.triggered(7, 0);
    assert!(exchange.state().early.is_empty());
    assert_eq!(exchange.take_lost(), 1);
}

#[test]
fn an_order_that_a_feed_finds_before_its_user_reports_it_executes() {
    let exchange = Exchange::new(6);
    exchange.triggered(7, 0);
    assert_eq!(next(&exchange, 9 * S), None);
    exchange.take(order(7, Kind::StopLoss, 1), 0);
    let Some(Task::Result(found)) = next(&exchange, 9 * S) else { panic!("no result") };
    assert_eq!(found.order.trade, 7);
}
