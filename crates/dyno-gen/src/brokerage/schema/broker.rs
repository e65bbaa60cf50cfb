//! Tables of the brokers: trades, and their fees.

use super::{balance, boolean, id, price, status, symbol, trade_type, value};
use crate::schema::{Column, TableSchema};

pub(super) const TRADE_TYPE: TableSchema = TableSchema {
    name: "trade_type",
    columns: &[
        trade_type("tt_id"),
        Column::varchar("tt_name", 12),
        boolean("tt_is_sell"),
        boolean("tt_is_mrkt"),
    ],
    primary_key: &["tt_id"],
};

pub(super) const CHARGE: TableSchema = TableSchema {
    name: "charge",
    columns: &[trade_type("ch_tt_id"), Column::int32("ch_c_tier"), value("ch_chrg")],
    primary_key: &["ch_tt_id", "ch_c_tier"],
};

pub(super) const COMMISSION_RATE: TableSchema = TableSchema {
    name: "commission_rate",
    columns: &[
        Column::int32("cr_c_tier"),
        trade_type("cr_tt_id"),
        Column::varchar("cr_ex_id", 6),
        Column::int32("cr_from_qty"),
        Column::int32("cr_to_qty"),
        Column::decimal("cr_rate", 5, 2),
    ],
    primary_key: &["cr_c_tier", "cr_tt_id", "cr_ex_id", "cr_from_qty"],
};

pub(super) const BROKER: TableSchema = TableSchema {
    name: "broker",
    columns: &[
        id("b_id"),
        status("b_st_id"),
        Column::varchar("b_name", 49),
        Column::int32("b_num_trades"),
        balance("b_comm_total"),
    ],
    primary_key: &["b_id"],
};

pub(super) const TRADE: TableSchema = TableSchema {
    name: "trade",
    columns: &[
        id("t_id"),
        Column::timestamp("t_dts"),
        status("t_st_id"),
        trade_type("t_tt_id"),
        boolean("t_is_cash"),
        symbol("t_s_symb"),
        Column::int32("t_qty"),
        price("t_bid_price"),
        id("t_ca_id"),
        Column::varchar("t_exec_name", 49),
        price("t_trade_price").or_null(),
        value("t_chrg"),
        value("t_comm"),
        value("t_tax"),
        boolean("t_lifo"),
    ],
    primary_key: &["t_id"],
};

pub(super) const TRADE_HISTORY: TableSchema = TableSchema {
    name: "trade_history",
    columns: &[id("th_t_id"), Column::timestamp("th_dts"), status("th_st_id")],
    primary_key: &["th_t_id", "th_st_id"],
};

pub(super) const TRADE_REQUEST: TableSchema = TableSchema {
    name: "trade_request",
    columns: &[
        id("tr_t_id"),
        trade_type("tr_tt_id"),
        symbol("tr_s_symb"),
        Column::int32("tr_qty"),
        price("tr_bid_price"),
        id("tr_b_id"),
    ],
    primary_key: &["tr_t_id"],
};

pub(super) const SETTLEMENT: TableSchema = TableSchema {
    name: "settlement",
    columns: &[
        id("se_t_id"),
        Column::varchar("se_cash_type", 40),
        Column::date("se_cash_due_date"),
        value("se_amt"),
    ],
    primary_key: &["se_t_id"],
};

pub(super) const CASH_TRANSACTION: TableSchema = TableSchema {
    name: "cash_transaction",
    columns: &[
        id("ct_t_id"),
        Column::timestamp("ct_dts"),
        value("ct_amt"),
        Column::varchar("ct_name", 100),
    ],
    primary_key: &["ct_t_id"],
};
