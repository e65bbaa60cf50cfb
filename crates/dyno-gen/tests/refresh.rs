//! The rows of the refresh functions: as many as asked for, new keys, otherwise like loaded ones.

use std::collections::HashSet;

use dyno_gen::sink::{TextFormat, TextSink};
use dyno_gen::{Dataset, Workload};
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
fn pairs_are_new_orders_with_all_their_lines() {
    let scale = 0.01;
    let loaded = keys(&rows(&Dataset::new(Workload::Tpch, scale, 1).unwrap(), "orders"));
    let mut seen = loaded.clone();
    for pair in [0, 1, 2, 998, 999, 1_997, 2_996] {
        let data = Dataset::refresh(scale, 7, pair).unwrap();
        let (orders, lines) = (rows(&data, "orders"), rows(&data, "lineitem"));
        assert_eq!(orders.len(), 15, "1,500 a scale factor");
        assert_eq!(data.row_count("orders").unwrap().count, 15);
        assert_eq!(data.row_count("lineitem").unwrap().count, lines.len() as u64);
        let new = keys(&orders);
        assert_eq!(new.len(), 15);
        assert_eq!(keys(&lines), new, "every order has lines, every line an order");
        assert!(new.is_disjoint(&seen), "pair {pair}");
        let bounds = data.refresh_keys().unwrap();
        assert_eq!(new.iter().min(), Some(&bounds.first));
        assert_eq!(new.iter().max(), Some(&bounds.last));
        assert!(new.iter().all(|key| (bounds.slot..bounds.slot + 8).contains(&(key % 32))));
        seen.extend(new);
    }
    assert!(loaded.iter().all(|key| key % 32 < 8), "which is how leftovers are told apart");
}

#[test]
fn values_are_those_of_loaded_orders() {
    let scale = 0.002;
    let all = Dataset::new(Workload::Tpch, scale, 1).unwrap();
    for table in ["orders", "lineitem"] {
        let known: HashSet<Vec<String>> =
            rows(&all, table).into_iter().map(|row| row[1..].to_vec()).collect();
        for row in rows(&Dataset::refresh(scale, 3, 5).unwrap(), table) {
            assert!(known.contains(&row[1..]), "{row:?}");
        }
    }
}

#[test]
fn the_seed_decides_and_nothing_else() {
    let first = |seed, pair| Dataset::refresh(0.01, seed, pair).unwrap().refresh_keys().unwrap();
    assert_eq!(first(1, 0), first(1, 0));
    let places: HashSet<i64> = (0..20).map(|seed| first(seed, 0).first).collect();
    assert!(places.len() > 15);
    assert!(Dataset::refresh(0.01, 1, 2_997).is_err());
    assert_eq!(rows(&Dataset::refresh(0.01, 1, 0).unwrap(), "part"), Vec::<Vec<String>>::new());
}
