//! The nine tables, under the names that other tools' checkers expect.

use crate::schema::{Column, TableSchema};

const fn money(name: &'static str) -> Column {
    Column::decimal(name, 12, 2)
}

/// A sum of payments, which TPC-C gives 12 digits. A warehouse would exceed them after 4 million
/// payments, which is a few hours.
const fn payments(name: &'static str) -> Column {
    Column::decimal(name, 14, 2)
}

/// A rate between 0 and 1.
const fn rate(name: &'static str) -> Column {
    Column::decimal(name, 4, 4)
}

pub(crate) const WAREHOUSE: TableSchema = TableSchema {
    name: "warehouse",
    columns: &[
        Column::int32("w_id"),
        Column::varchar("w_name", 10),
        Column::varchar("w_street_1", 20),
        Column::varchar("w_street_2", 20),
        Column::varchar("w_city", 20),
        Column::char("w_state", 2),
        Column::char("w_zip", 9),
        rate("w_tax"),
        payments("w_ytd"),
    ],
    primary_key: &["w_id"],
};

pub(crate) const DISTRICT: TableSchema = TableSchema {
    name: "district",
    columns: &[
        Column::int32("d_id"),
        Column::int32("d_w_id"),
        Column::varchar("d_name", 10),
        Column::varchar("d_street_1", 20),
        Column::varchar("d_street_2", 20),
        Column::varchar("d_city", 20),
        Column::char("d_state", 2),
        Column::char("d_zip", 9),
        rate("d_tax"),
        payments("d_ytd"),
        Column::int32("d_next_o_id"),
    ],
    primary_key: &["d_w_id", "d_id"],
};

pub(crate) const CUSTOMER: TableSchema = TableSchema {
    name: "customer",
    columns: &[
        Column::int32("c_id"),
        Column::int32("c_d_id"),
        Column::int32("c_w_id"),
        Column::varchar("c_first", 16),
        Column::char("c_middle", 2),
        Column::varchar("c_last", 16),
        Column::varchar("c_street_1", 20),
        Column::varchar("c_street_2", 20),
        Column::varchar("c_city", 20),
        Column::char("c_state", 2),
        Column::char("c_zip", 9),
        Column::char("c_phone", 16),
        Column::timestamp("c_since"),
        Column::char("c_credit", 2),
        money("c_credit_lim"),
        rate("c_discount"),
        money("c_balance"),
        money("c_ytd_payment"),
        Column::int32("c_payment_cnt"),
        Column::int32("c_delivery_cnt"),
        Column::varchar("c_data", 500),
    ],
    primary_key: &["c_w_id", "c_d_id", "c_id"],
};

pub(crate) const HISTORY: TableSchema = TableSchema {
    name: "history",
    columns: &[
        Column::int32("h_c_id"),
        Column::int32("h_c_d_id"),
        Column::int32("h_c_w_id"),
        Column::int32("h_d_id"),
        Column::int32("h_w_id"),
        Column::timestamp("h_date"),
        Column::decimal("h_amount", 6, 2),
        Column::varchar("h_data", 24),
    ],
    primary_key: &[],
};

pub(crate) const NEW_ORDER: TableSchema = TableSchema {
    name: "new_order",
    columns: &[Column::int32("no_o_id"), Column::int32("no_d_id"), Column::int32("no_w_id")],
    primary_key: &["no_w_id", "no_d_id", "no_o_id"],
};

pub(crate) const ORDERS: TableSchema = TableSchema {
    name: "orders",
    columns: &[
        Column::int32("o_id"),
        Column::int32("o_d_id"),
        Column::int32("o_w_id"),
        Column::int32("o_c_id"),
        Column::timestamp("o_entry_d"),
        Column::int32("o_carrier_id").or_null(),
        Column::int32("o_ol_cnt"),
        Column::int32("o_all_local"),
    ],
    primary_key: &["o_w_id", "o_d_id", "o_id"],
};

pub(crate) const ORDER_LINE: TableSchema = TableSchema {
    name: "order_line",
    columns: &[
        Column::int32("ol_o_id"),
        Column::int32("ol_d_id"),
        Column::int32("ol_w_id"),
        Column::int32("ol_number"),
        Column::int32("ol_i_id"),
        Column::int32("ol_supply_w_id"),
        Column::timestamp("ol_delivery_d").or_null(),
        Column::int32("ol_quantity"),
        Column::decimal("ol_amount", 6, 2),
        Column::char("ol_dist_info", 24),
    ],
    primary_key: &["ol_w_id", "ol_d_id", "ol_o_id", "ol_number"],
};

pub(crate) const ITEM: TableSchema = TableSchema {
    name: "item",
    columns: &[
        Column::int32("i_id"),
        Column::int32("i_im_id"),
        Column::varchar("i_name", 24),
        Column::decimal("i_price", 5, 2),
        Column::varchar("i_data", 50),
    ],
    primary_key: &["i_id"],
};

pub(crate) const STOCK: TableSchema = TableSchema {
    name: "stock",
    columns: &[
        Column::int32("s_i_id"),
        Column::int32("s_w_id"),
        Column::int32("s_quantity"),
        Column::char("s_dist_01", 24),
        Column::char("s_dist_02", 24),
        Column::char("s_dist_03", 24),
        Column::char("s_dist_04", 24),
        Column::char("s_dist_05", 24),
        Column::char("s_dist_06", 24),
        Column::char("s_dist_07", 24),
        Column::char("s_dist_08", 24),
        Column::char("s_dist_09", 24),
        Column::char("s_dist_10", 24),
        Column::int32("s_ytd"),
        Column::int32("s_order_cnt"),
        Column::int32("s_remote_cnt"),
        Column::varchar("s_data", 50),
    ],
    primary_key: &["s_w_id", "s_i_id"],
};

/// All tables of the workload.
pub(crate) const TABLES: &[TableSchema] =
    &[ITEM, WAREHOUSE, DISTRICT, CUSTOMER, HISTORY, STOCK, ORDERS, NEW_ORDER, ORDER_LINE];
