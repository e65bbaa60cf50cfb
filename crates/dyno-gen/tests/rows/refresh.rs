//! Rows of the refresh functions: the right number, new keys, otherwise like loaded rows.

use std::collections::HashSet;

use dyno_gen::sink::{TextFormat, TextSink};
use dyno_gen::{Dataset, RefreshOrders, Workload};
use dyno_record::Control;

fn rows(data: &Dataset, table: &str) -> Vec<Vec<String>> {
    let mut text = Vec::new();
    let mut sink = TextSink::new(TextFormat::Tbl, |chunk: &[u8]| {
        text.extend_from_slice(chunk);
        Ok(())
    });
    let count = data.write(&data.part(table, 0, 1).unwrap(), &mut sink, &Control::new()).unwrap();
    sink.finish().unwrap();
    let text = String::from_utf8(text).unwrap();
    let rows: Vec<Vec<String>> =
        text.lines().map(|line| line.split('|').map(str::to_owned).collect()).collect();
    assert_eq!(rows.len() as u64, count);
    rows
}

fn keys(rows: &[Vec<String>]) -> HashSet<i64> {
    rows.iter().map(|row| row[0].parse().unwrap()).collect()
}

#[test]
fn sets_are_new_orders_with_all_their_lines() {
    let scale = 0.01;
    let loaded = keys(&rows(&Dataset::new(Workload::Tpch, scale, 1).unwrap(), "orders"));
    let mut seen = loaded.clone();
    for set in [0, 1, 2, 998, 999, 1_997, 2_996] {
        let data = Dataset::refresh(scale, set, RefreshOrders::New).unwrap();
        let (orders, lines) = (rows(&data, "orders"), rows(&data, "lineitem"));
        assert_eq!(orders.len(), 15, "1,500 a scale factor");
        assert_eq!(data.row_count("orders").unwrap().count, 15);
        assert_eq!(data.row_count("lineitem").unwrap().count, lines.len() as u64);
        let new = keys(&orders);
        assert_eq!(new.len(), 15);
        assert_eq!(keys(&lines), new, "every order has lines, every line an order");
        assert!(new.is_disjoint(&seen), "set {set}");
        let bounds = data.refresh_keys().unwrap();
        assert_eq!(new.iter().min(), Some(&bounds.first));
        assert_eq!(new.iter().max(), Some(&bounds.last));
        assert!(new.iter().all(|key| (bounds.slot..bounds.slot + 8).contains(&(key % 32))));
        seen.extend(new);
    }
    assert!(loaded.iter().all(|key| key % 32 < 8), "which is how leftovers are told apart");
}

#[test]
fn what_is_deleted_was_loaded_and_each_set_takes_the_next() {
    let scale = 0.002;
    let all = Dataset::new(Workload::Tpch, scale, 1).unwrap();
    for table in ["orders", "lineitem"] {
        let loaded = rows(&all, table);
        let sets = |set| rows(&Dataset::refresh(scale, set, RefreshOrders::Loaded).unwrap(), table);
        let deleted: Vec<_> = (0..20).flat_map(sets).collect();
        assert_eq!(deleted, loaded[..deleted.len()]);
    }
}

#[test]
fn new_orders_have_the_values_of_those_deleted() {
    for table in ["orders", "lineitem"] {
        let of = |which| rows(&Dataset::refresh(0.01, 5, which).unwrap(), table);
        let (new, loaded) = (of(RefreshOrders::New), of(RefreshOrders::Loaded));
        assert_eq!(new.len(), loaded.len());
        for (new, loaded) in new.iter().zip(&loaded) {
            assert_ne!(new[0], loaded[0]);
            assert_eq!(new[1..], loaded[1..]);
        }
    }
}

#[test]
fn other_tables_have_nothing_to_refresh() {
    let data = Dataset::refresh(0.01, 1, RefreshOrders::New).unwrap();
    assert_eq!(rows(&data, "part"), Vec::<Vec<String>>::new());
}
