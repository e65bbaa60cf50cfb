//! Tables of the customers: accounts, holdings and watch lists.

use super::{balance, id, price, status, symbol};
use crate::schema::{Column, TableSchema};

pub(super) const CUSTOMER: TableSchema = TableSchema {
    name: "customer",
    columns: &[
        id("c_id"),
        Column::varchar("c_tax_id", 20),
        status("c_st_id"),
        Column::varchar("c_l_name", 25),
        Column::varchar("c_f_name", 20),
        Column::char("c_m_name", 1).or_null(),
        Column::char("c_gndr", 1).or_null(),
        Column::int32("c_tier"),
        Column::early_date("c_dob"),
        id("c_ad_id"),
        Column::varchar("c_ctry_1", 3).or_null(),
        Column::varchar("c_area_1", 3).or_null(),
        Column::varchar("c_local_1", 10).or_null(),
        Column::varchar("c_ext_1", 5).or_null(),
        Column::varchar("c_ctry_2", 3).or_null(),
        Column::varchar("c_area_2", 3).or_null(),
        Column::varchar("c_local_2", 10).or_null(),
        Column::varchar("c_ext_2", 5).or_null(),
        Column::varchar("c_ctry_3", 3).or_null(),
        Column::varchar("c_area_3", 3).or_null(),
        Column::varchar("c_local_3", 10).or_null(),
        Column::varchar("c_ext_3", 5).or_null(),
        Column::varchar("c_email_1", 50).or_null(),
        Column::varchar("c_email_2", 50).or_null(),
    ],
    primary_key: &["c_id"],
};

pub(super) const CUSTOMER_TAXRATE: TableSchema = TableSchema {
    name: "customer_taxrate",
    columns: &[Column::char("cx_tx_id", 4), id("cx_c_id")],
    primary_key: &["cx_c_id", "cx_tx_id"],
};

pub(super) const CUSTOMER_ACCOUNT: TableSchema = TableSchema {
    name: "customer_account",
    columns: &[
        id("ca_id"),
        id("ca_b_id"),
        id("ca_c_id"),
        Column::varchar("ca_name", 50).or_null(),
        Column::int32("ca_tax_st"),
        balance("ca_bal"),
    ],
    primary_key: &["ca_id"],
};

pub(super) const ACCOUNT_PERMISSION: TableSchema = TableSchema {
    name: "account_permission",
    columns: &[
        id("ap_ca_id"),
        Column::char("ap_acl", 4),
        Column::varchar("ap_tax_id", 20),
        Column::varchar("ap_l_name", 25),
        Column::varchar("ap_f_name", 20),
    ],
    primary_key: &["ap_ca_id", "ap_tax_id"],
};

pub(super) const WATCH_LIST: TableSchema = TableSchema {
    name: "watch_list",
    columns: &[id("wl_id"), id("wl_c_id")],
    primary_key: &["wl_id"],
};

pub(super) const WATCH_ITEM: TableSchema = TableSchema {
    name: "watch_item",
    columns: &[id("wi_wl_id"), symbol("wi_s_symb")],
    primary_key: &["wi_wl_id", "wi_s_symb"],
};

pub(super) const HOLDING_HISTORY: TableSchema = TableSchema {
    name: "holding_history",
    columns: &[
        id("hh_h_t_id"),
        id("hh_t_id"),
        Column::int32("hh_before_qty"),
        Column::int32("hh_after_qty"),
    ],
    primary_key: &["hh_h_t_id", "hh_t_id"],
};

pub(super) const HOLDING: TableSchema = TableSchema {
    name: "holding",
    columns: &[
        id("h_t_id"),
        id("h_ca_id"),
        symbol("h_s_symb"),
        Column::timestamp("h_dts"),
        price("h_price"),
        Column::int32("h_qty"),
    ],
    primary_key: &["h_t_id"],
};

pub(super) const HOLDING_SUMMARY: TableSchema = TableSchema {
    name: "holding_summary",
    columns: &[id("hs_ca_id"), symbol("hs_s_symb"), Column::int32("hs_qty")],
    primary_key: &["hs_ca_id", "hs_s_symb"],
};
