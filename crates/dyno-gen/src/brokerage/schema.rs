//! The 33 tables. Names, types and keys are published facts of the TPC-E specification.
//!
//! The order of the columns of a key is ours: first the column by which rows are found.

mod broker;
mod customer;
mod dimension;
mod market;

use crate::schema::{Column, TableSchema};

/// An identifier: 11 digits.
const fn id(name: &'static str) -> Column {
    Column::int64(name)
}

/// A price per share.
const fn price(name: &'static str) -> Column {
    Column::decimal(name, 8, 2)
}

/// The value of a trade.
const fn value(name: &'static str) -> Column {
    Column::decimal(name, 10, 2)
}

const fn balance(name: &'static str) -> Column {
    Column::decimal(name, 12, 2)
}

const fn symbol(name: &'static str) -> Column {
    Column::varchar(name, 15)
}

const fn status(name: &'static str) -> Column {
    Column::char(name, 4)
}

const fn trade_type(name: &'static str) -> Column {
    Column::char(name, 3)
}

/// True is 1.
const fn boolean(name: &'static str) -> Column {
    Column::int32(name)
}

/// All tables of the workload: a table follows those that it refers to.
pub(crate) const TABLES: &[TableSchema] = &[
    dimension::STATUS_TYPE,
    dimension::TAXRATE,
    dimension::ZIP_CODE,
    dimension::ADDRESS,
    market::SECTOR,
    market::INDUSTRY,
    market::EXCHANGE,
    market::COMPANY,
    market::COMPANY_COMPETITOR,
    market::SECURITY,
    market::DAILY_MARKET,
    market::FINANCIAL,
    market::LAST_TRADE,
    market::NEWS_ITEM,
    market::NEWS_XREF,
    broker::TRADE_TYPE,
    broker::CHARGE,
    broker::COMMISSION_RATE,
    broker::BROKER,
    customer::CUSTOMER,
    customer::CUSTOMER_TAXRATE,
    customer::CUSTOMER_ACCOUNT,
    customer::ACCOUNT_PERMISSION,
    customer::WATCH_LIST,
    customer::WATCH_ITEM,
    broker::TRADE,
    broker::TRADE_HISTORY,
    broker::TRADE_REQUEST,
    broker::SETTLEMENT,
    broker::CASH_TRANSACTION,
    customer::HOLDING_HISTORY,
    customer::HOLDING,
    customer::HOLDING_SUMMARY,
];
