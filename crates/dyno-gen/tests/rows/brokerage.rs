//! Checks data derived from TPC-E against published row counts, ratios and rules.

use std::collections::{HashMap, HashSet};

use dyno_gen::brokerage::Brokerage;
use dyno_gen::sink::{CountSink, TextFormat, TextSink};
use dyno_gen::{Dataset, Workload};
use dyno_record::{Control, ErrorKind};

use crate::table::Table;

/// 100 customers and their trades of three days.
fn small() -> Dataset {
    Dataset::new(Workload::Brokerage, 0.1, 42).unwrap().with_days(Some(3)).unwrap()
}

fn rows(data: &Dataset, table: &str) -> u64 {
    data.row_count(table).unwrap().count
}

#[test]
fn cardinalities_are_the_published_ones() {
    let data = Dataset::new(Workload::Brokerage, 1.0, 1).unwrap();
    for (table, count) in [
        ("customer", 1_000),
        ("customer_account", 5_000),
        ("customer_taxrate", 2_000),
        ("watch_list", 1_000),
        ("broker", 10),
        ("company", 500),
        ("company_competitor", 1_500),
        ("security", 685),
        ("daily_market", 893_925),
        ("last_trade", 685),
        ("financial", 10_000),
        ("news_item", 1_000),
        ("news_xref", 1_000),
        ("address", 1_504),
        ("exchange", 4),
        ("sector", 12),
        ("industry", 102),
        ("zip_code", 14_741),
        ("taxrate", 320),
        ("status_type", 5),
        ("trade_type", 5),
        ("charge", 15),
        ("commission_rate", 240),
        ("trade_request", 0),
        ("trade", 576_000),
        ("settlement", 576_000),
    ] {
        assert_eq!(rows(&data, table), count, "{table}");
    }
}

#[test]
fn ratios_are_the_published_ones_at_300_days() {
    let data = Dataset::new(Workload::Brokerage, 0.1, 1).unwrap().with_days(Some(300)).unwrap();
    assert_eq!(rows(&data, "trade"), 17_280 * 100);
    for (table, of, ratio, slack) in [
        ("trade_history", "trade", 2.4, 0.01),
        ("cash_transaction", "trade", 0.92, 0.005),
        ("holding_history", "trade", 1.34, 0.01),
        ("holding", "customer", 885.0, 60.0),
        ("holding_summary", "customer", 49.8, 2.0),
        ("account_permission", "customer_account", 1.42, 0.06),
    ] {
        let found = rows(&data, table) as f64 / rows(&data, of) as f64;
        assert!((found - ratio).abs() < slack, "{table}: {found}");
    }
    let larger = Dataset::new(Workload::Brokerage, 1.0, 1).unwrap().with_days(Some(1)).unwrap();
    let watched = rows(&larger, "watch_item") as f64 / rows(&larger, "watch_list") as f64;
    assert!((97.0..103.0).contains(&watched), "{watched}");
}

/// The size of a table as `tbl` text.
fn text_bytes(data: &Dataset, table: &str) -> u64 {
    let mut sink = TextSink::new(TextFormat::Tbl, |_: &[u8]| Ok(()));
    data.write(&data.part(table, 0, 1).unwrap(), &mut sink, &Control::new()).unwrap();
    sink.finish().unwrap()
}

#[test]
fn expected_sizes_are_close_to_what_is_written() {
    let data = Dataset::new(Workload::Brokerage, 0.2, 5).unwrap();
    for table in data.tables() {
        let part = data.part(table.name, 0, 1).unwrap();
        let mut sink = CountSink::new();
        let written = data.write(&part, &mut sink, &Control::new()).unwrap();
        assert_eq!(rows(&data, table.name), written, "{}", table.name);
        let bytes = data.expected_bytes(table.name).unwrap() as f64;
        if written > 1_000 {
            let share = bytes / text_bytes(&data, table.name) as f64;
            // Identifiers have fewer digits here than at scale 1, where sizes were measured.
            assert!((0.9..1.1).contains(&share), "{}: {share}", table.name);
        }
    }
}

#[test]
fn impossible_sizes_are_refused() {
    for scale in [0.0, 0.05, 0.15, -1.0, 10_001.0, f64::NAN] {
        let error = Dataset::new(Workload::Brokerage, scale, 1).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage, "{scale}");
    }
    for days in [0, 301] {
        let error = small().with_days(Some(days)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage, "{days}");
    }
    let other = Dataset::new(Workload::Tpcc, 1.0, 1).unwrap();
    assert_eq!(other.with_days(Some(10)).unwrap_err().kind, ErrorKind::Usage);
}

#[test]
fn trade_numbers_are_dense_and_ascend_with_time_within_a_desk() {
    let trade = Table::of(&small(), "trade");
    assert!(trade.numbers("t_id").eq(1..=17_280));
    let times: Vec<_> = trade.texts("t_dts").collect();
    for desk in times.chunks(17_280 / 5) {
        assert!(desk.is_sorted());
    }
    trade.assert_all("t_st_id", "CMPT");
    assert!(times.iter().all(|at| ("09:00".."17:00").contains(&&at[11..16])));
    assert_eq!(times.iter().map(|at| &at[..10]).collect::<HashSet<_>>().len(), 3);
}

/// Holdings by trade, as the history of holdings leaves them.
fn holdings_of(history: &Table) -> HashMap<i64, i64> {
    let mut held = HashMap::new();
    let changes = history.numbers("hh_h_t_id").zip(history.numbers("hh_before_qty"));
    for ((holding, before), after) in changes.zip(history.numbers("hh_after_qty")) {
        let quantity = held.entry(holding).or_insert(0);
        assert_eq!(*quantity, before, "holding {holding}");
        *quantity = after;
    }
    held.retain(|_, quantity| *quantity != 0);
    held
}

#[test]
fn holdings_follow_from_their_history_and_their_trades() {
    let data = small();
    let (trade, history) = (Table::of(&data, "trade"), Table::of(&data, "holding_history"));
    let holding = Table::of(&data, "holding");
    let found: HashMap<_, _> = holding.numbers("h_t_id").zip(holding.numbers("h_qty")).collect();
    assert_eq!(found, holdings_of(&history));

    let mut change: HashMap<i64, i64> = HashMap::new();
    let moved = history.numbers("hh_before_qty").zip(history.numbers("hh_after_qty"));
    for (id, (before, after)) in history.numbers("hh_t_id").zip(moved) {
        *change.entry(id).or_default() += after - before;
    }
    let sides = trade.texts("t_tt_id").zip(trade.numbers("t_qty"));
    for (id, (kind, quantity)) in trade.numbers("t_id").zip(sides) {
        let signed = if matches!(kind, "TMB" | "TLB") { quantity } else { -quantity };
        assert_eq!(change[&id], signed, "trade {id}");
    }
}

#[test]
fn holdings_close_in_the_order_that_the_trade_asks_for() {
    // Replays holdings of each account and security with a plain list.
    let data = small();
    let (trade, history) = (Table::of(&data, "trade"), Table::of(&data, "holding_history"));
    let mut touched: HashMap<i64, Vec<i64>> = HashMap::new();
    for (id, holding) in history.numbers("hh_t_id").zip(history.numbers("hh_h_t_id")) {
        touched.entry(id).or_default().push(holding);
    }
    let mut held: HashMap<(i64, &str), Vec<(i64, i64)>> = HashMap::new();
    let keys = trade.numbers("t_ca_id").zip(trade.texts("t_s_symb"));
    let orders = trade.texts("t_tt_id").zip(trade.numbers("t_qty")).zip(trade.numbers("t_lifo"));
    let mut closed_several = 0;
    for ((id, key), ((kind, quantity), lifo)) in trade.numbers("t_id").zip(keys).zip(orders) {
        let mut rest = if matches!(kind, "TMB" | "TLB") { quantity } else { -quantity };
        let lots = held.entry(key).or_default();
        let mut expected = Vec::new();
        while rest != 0 && !lots.is_empty() {
            let at = if lifo == 1 { lots.len() - 1 } else { 0 };
            let (lot, own) = lots[at];
            if own.signum() == rest.signum() {
                break;
            }
            expected.push(lot);
            let closed = own.abs().min(rest.abs()) * rest.signum();
            rest -= closed;
            lots[at].1 += closed;
            lots.retain(|(_, left)| *left != 0);
        }
        closed_several += u32::from(expected.len() > 1);
        if rest != 0 {
            expected.push(id);
            lots.push((id, rest));
        }
        assert_eq!(touched[&id], expected, "trade {id}");
    }
    assert!(closed_several > 100, "{closed_several}");
}

#[test]
fn prices_agree_with_the_daily_market() {
    let data = small();
    let (trade, market) = (Table::of(&data, "trade"), Table::of(&data, "daily_market"));
    let range = market.numbers("dm_low").zip(market.numbers("dm_high"));
    let days: HashMap<_, _> =
        market.texts("dm_s_symb").zip(market.texts("dm_date")).zip(range).collect();
    for ((symbol, at), price) in
        trade.texts("t_s_symb").zip(trade.texts("t_dts")).zip(trade.numbers("t_trade_price"))
    {
        let (low, high) = days[&(symbol, &at[..10])];
        assert!((low..=high).contains(&price), "{symbol} {at}: {price}");
    }
    let mut kinds: HashMap<&str, u64> = HashMap::new();
    let limits = trade.numbers("t_bid_price").zip(trade.numbers("t_trade_price"));
    for (kind, (bid, price)) in trade.texts("t_tt_id").zip(limits) {
        *kinds.entry(kind).or_default() += 1;
        assert!(!matches!(kind, "TLB" | "TSL") || price <= bid);
        assert!(kind != "TLS" || price >= bid);
    }
    let share = |kind| kinds[kind] as f64 / trade.rows.len() as f64;
    for (kind, expected) in [("TMB", 0.3), ("TMS", 0.3), ("TLB", 0.2), ("TLS", 0.1), ("TSL", 0.1)] {
        assert!((share(kind) - expected).abs() < 0.01, "{kind}: {}", share(kind));
    }
}

#[test]
fn facts_for_a_driver_are_those_of_the_tables() {
    let data = small();
    let size = Brokerage::new(0.1, 42).unwrap().with_days(3).unwrap();
    let account = Table::of(&data, "customer_account");
    let permission = Table::of(&data, "account_permission");
    let mut allowed: HashMap<i64, usize> = HashMap::new();
    for id in permission.numbers("ap_ca_id") {
        *allowed.entry(id).or_default() += 1;
    }
    let owners = account.numbers("ca_c_id").zip(account.numbers("ca_b_id"));
    for (id, (customer, broker)) in account.numbers("ca_id").zip(owners) {
        let found = size.account(id as u64);
        assert_eq!(found.helpers + 1, allowed[&id], "the owner is one of them");
        assert_eq!((found.customer as i64, found.broker as i64), (customer, broker));
        assert!(size.accounts_of(found.customer).contains(&found.id));
    }
    let security = Table::of(&data, "security");
    let symbols = (0..size.securities()).map(|number| size.symbol(number));
    assert!(security.texts("s_symb").map(str::to_owned).eq(symbols));
    let known = (0..size.securities()).map(|number| size.issue_of(number));
    let issued = security.numbers("s_co_id").zip(security.texts("s_issue"));
    assert!(issued.map(|(company, issue)| (company as u64, issue)).eq(known));
    let (broker, company) = (Table::of(&data, "broker"), Table::of(&data, "company"));
    assert!(broker.texts("b_name").map(str::to_owned).eq((1..=1).map(|id| size.broker(id))));
    assert!(company.texts("co_name").map(str::to_owned).eq((1..=50).map(|id| size.company(id))));
    let customer = Table::of(&data, "customer");
    assert!(customer.texts("c_tax_id").map(str::to_owned).eq((1..=100).map(|id| size.tax_id(id))));
    let trade = Table::of(&data, "trade");
    assert_eq!(trade.rows.len() as u64, size.trades());
    let traded = trade.numbers("t_ca_id").zip(trade.texts("t_s_symb"));
    for (id, symbol) in traded.take(500) {
        let known = size.account(id as u64).securities;
        assert!(known.iter().any(|security| size.symbol(*security) == symbol));
    }
}

#[test]
fn a_desk_is_the_same_at_every_scale_but_for_its_securities() {
    let customers = |scale| {
        let data = Dataset::new(Workload::Brokerage, scale, 42).unwrap();
        Table::of(&data, "customer").rows[..100].to_vec()
    };
    let (small, large) = (customers(0.1), customers(0.3));
    // All columns except the address, whose numbers begin with those of companies.
    for (one, other) in small.iter().zip(&large) {
        assert_eq!((&one[..9], &one[10..]), (&other[..9], &other[10..]));
    }
}
