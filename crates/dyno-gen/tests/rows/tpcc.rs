//! Checks data derived from TPC-C against the specification's rules for the initial population
//! (clauses 3.3.2 and 4.3.3.1).

use std::collections::{HashMap, HashSet};

use dyno_gen::tpcc::{c_load, nurand};
use dyno_gen::{Dataset, Workload};

use crate::table::Table;

fn one_warehouse() -> Dataset {
    Dataset::new(Workload::Tpcc, 1.0, 42).unwrap()
}

fn assert_address(table: &Table, prefix: &str) {
    for street in ["street_1", "street_2", "city"] {
        table.assert_lengths(&format!("{prefix}_{street}"), 10, 20);
    }
    table.assert_lengths(&format!("{prefix}_state"), 2, 2);
    table.assert_lengths(&format!("{prefix}_zip"), 9, 9);
    assert!(table.texts(&format!("{prefix}_zip")).all(|zip| zip.ends_with("11111")));
}

#[test]
fn warehouse_and_districts() {
    let data = Dataset::new(Workload::Tpcc, 3.0, 42).unwrap();
    let warehouse = Table::of(&data, "warehouse");
    assert!(warehouse.numbers("w_id").eq(1..=3));
    warehouse.assert_all("w_ytd", "300000.00");
    warehouse.assert_between("w_tax", 0, 2_000);
    warehouse.assert_lengths("w_name", 6, 10);
    assert_address(&warehouse, "w");
    let district = Table::of(&data, "district");
    assert_eq!(district.rows.len(), 30);
    district.assert_all("d_ytd", "30000.00");
    district.assert_all("d_next_o_id", "3001");
    district.assert_between("d_tax", 0, 2_000);
    assert_address(&district, "d");
}

#[test]
fn customers_and_history() {
    let data = one_warehouse();
    let customer = Table::of(&data, "customer");
    assert_eq!(customer.rows.len(), 30_000);
    let name = |number| {
        let mut name = String::new();
        nurand::push_last_name(number, &mut name);
        name
    };
    let names: HashMap<String, i32> = (0..1_000).map(|number| (name(number), number)).collect();
    assert_eq!(names.len(), 1_000);
    for (id, last) in customer.numbers("c_id").zip(customer.texts("c_last")) {
        let number = names.get(last).expect("a valid last name");
        assert!(id > 1_000 || i64::from(*number) == id - 1, "{id} is {last}");
    }
    customer.assert_all("c_middle", "OE");
    customer.assert_all("c_credit_lim", "50000.00");
    customer.assert_all("c_balance", "-10.00");
    customer.assert_all("c_ytd_payment", "10.00");
    customer.assert_all("c_payment_cnt", "1");
    customer.assert_all("c_delivery_cnt", "0");
    customer.assert_between("c_discount", 0, 5_000);
    customer.assert_lengths("c_first", 8, 16);
    customer.assert_lengths("c_phone", 16, 16);
    customer.assert_lengths("c_data", 300, 500);
    customer.assert_tenth("c_credit", |credit| credit == "BC");
    assert!(customer.texts("c_credit").all(|credit| credit == "BC" || credit == "GC"));
    assert_address(&customer, "c");

    let history = Table::of(&data, "history");
    assert_eq!(history.rows.len(), 30_000);
    history.assert_all("h_amount", "10.00");
    history.assert_lengths("h_data", 12, 24);
    let customers: HashSet<_> =
        history.numbers("h_c_id").zip(history.numbers("h_c_d_id")).collect();
    assert_eq!(customers.len(), 30_000, "one payment each");
}

#[test]
fn orders_and_their_lines() {
    let data = one_warehouse();
    let orders = Table::of(&data, "orders");
    orders.assert_between("o_ol_cnt", 5, 15);
    orders.assert_all("o_all_local", "1");
    for district in 1..=10 {
        let mut customers: Vec<_> = orders
            .numbers("o_d_id")
            .zip(orders.numbers("o_c_id"))
            .filter_map(|(of, customer)| (of == district).then_some(customer))
            .collect();
        assert!(!customers.is_sorted());
        customers.sort_unstable();
        assert!(customers.into_iter().eq(1..=3_000), "each customer has one order");
    }
    for (id, carrier) in orders.numbers("o_id").zip(orders.texts("o_carrier_id")) {
        assert_eq!(carrier.is_empty(), id > 2_100, "order {id}");
        assert!(carrier.is_empty() || (1..=10).contains(&carrier.parse::<i32>().unwrap()));
    }
    let new_order = Table::of(&data, "new_order");
    assert_eq!(new_order.rows.len(), 9_000);
    new_order.assert_between("no_o_id", 2_101, 3_000);

    let line = Table::of(&data, "order_line");
    line.assert_all("ol_quantity", "5");
    line.assert_lengths("ol_dist_info", 24, 24);
    line.assert_between("ol_i_id", 1, 100_000);
    line.assert_all("ol_supply_w_id", "1");
    let entered: HashMap<_, _> = orders
        .numbers("o_d_id")
        .zip(orders.numbers("o_id"))
        .zip(orders.texts("o_entry_d"))
        .collect();
    let mut counts: HashMap<(i64, i64), i64> = HashMap::new();
    for (i, order) in line.numbers("ol_d_id").zip(line.numbers("ol_o_id")).enumerate() {
        *counts.entry(order).or_default() += 1;
        let row = &line.rows[i];
        assert_eq!(row[line.columns["ol_number"]], counts[&order].to_string());
        let delivered = &row[line.columns["ol_delivery_d"]];
        let amount = &row[line.columns["ol_amount"]];
        if order.1 <= 2_100 {
            assert_eq!((delivered.as_str(), amount.as_str()), (entered[&order], "0.00"));
        } else {
            let hundredths: i64 = amount.replace('.', "").parse().unwrap();
            assert!(delivered.is_empty() && (1..=999_999).contains(&hundredths), "{row:?}");
        }
    }
    for (order, lines) in
        orders.numbers("o_d_id").zip(orders.numbers("o_id")).zip(orders.numbers("o_ol_cnt"))
    {
        assert_eq!(counts[&order], lines, "order {order:?}");
    }
}

#[test]
fn items_and_stock() {
    let data = one_warehouse();
    let item = Table::of(&data, "item");
    assert!(item.numbers("i_id").eq(1..=100_000));
    item.assert_between("i_im_id", 1, 10_000);
    item.assert_between("i_price", 100, 10_000);
    item.assert_lengths("i_name", 14, 24);
    item.assert_lengths("i_data", 26, 50);
    item.assert_tenth("i_data", |data| data.contains("ORIGINAL"));
    let stock = Table::of(&data, "stock");
    assert!(stock.numbers("s_i_id").eq(1..=100_000));
    stock.assert_between("s_quantity", 10, 100);
    for district in 1..=10 {
        stock.assert_lengths(&format!("s_dist_{district:02}"), 24, 24);
    }
    for counter in ["s_ytd", "s_order_cnt", "s_remote_cnt"] {
        stock.assert_all(counter, "0");
    }
    stock.assert_lengths("s_data", 26, 50);
    stock.assert_tenth("s_data", |data| data.contains("ORIGINAL"));
}

#[test]
fn every_seed_has_a_load_constant_and_leaves_constants_for_runs() {
    let constants: HashSet<u64> = (0..1_000).map(c_load).collect();
    assert!(constants.len() > 200);
    for constant in constants {
        let legal = |run: &i64| {
            let delta = (run - constant as i64).abs();
            (65..=119).contains(&delta) && delta != 96 && delta != 112
        };
        assert!(constant <= 255 && (0..=255).any(|run| legal(&run)));
    }
}
