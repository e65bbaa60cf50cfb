//! Tables of the market: companies, their securities and news.

use super::{id, price, status, symbol, value};
use crate::schema::{Column, TableSchema};

/// An amount in the books of a company.
const fn book(name: &'static str) -> Column {
    Column::decimal(name, 15, 2)
}

pub(super) const SECTOR: TableSchema = TableSchema {
    name: "sector",
    columns: &[Column::char("sc_id", 2), Column::varchar("sc_name", 30)],
    primary_key: &["sc_id"],
};

pub(super) const INDUSTRY: TableSchema = TableSchema {
    name: "industry",
    columns: &[
        Column::char("in_id", 2),
        Column::varchar("in_name", 50),
        Column::char("in_sc_id", 2),
    ],
    primary_key: &["in_id"],
};

pub(super) const EXCHANGE: TableSchema = TableSchema {
    name: "exchange",
    columns: &[
        Column::varchar("ex_id", 6),
        Column::varchar("ex_name", 100),
        Column::int32("ex_num_symb"),
        Column::int32("ex_open"),
        Column::int32("ex_close"),
        Column::varchar("ex_desc", 150).or_null(),
        id("ex_ad_id"),
    ],
    primary_key: &["ex_id"],
};

pub(super) const COMPANY: TableSchema = TableSchema {
    name: "company",
    columns: &[
        id("co_id"),
        status("co_st_id"),
        Column::varchar("co_name", 60),
        Column::char("co_in_id", 2),
        Column::varchar("co_sp_rate", 4),
        Column::varchar("co_ceo", 46),
        id("co_ad_id"),
        Column::prose("co_desc", 150),
        Column::early_date("co_open_date"),
    ],
    primary_key: &["co_id"],
};

pub(super) const COMPANY_COMPETITOR: TableSchema = TableSchema {
    name: "company_competitor",
    columns: &[id("cp_co_id"), id("cp_comp_co_id"), Column::char("cp_in_id", 2)],
    primary_key: &["cp_co_id", "cp_comp_co_id", "cp_in_id"],
};

pub(super) const SECURITY: TableSchema = TableSchema {
    name: "security",
    columns: &[
        symbol("s_symb"),
        Column::varchar("s_issue", 6),
        status("s_st_id"),
        Column::varchar("s_name", 70),
        Column::varchar("s_ex_id", 6),
        id("s_co_id"),
        Column::int64("s_num_out"),
        Column::date("s_start_date"),
        Column::date("s_exch_date"),
        value("s_pe"),
        price("s_52wk_high"),
        Column::date("s_52wk_high_date"),
        price("s_52wk_low"),
        Column::date("s_52wk_low_date"),
        value("s_dividend"),
        Column::decimal("s_yield", 5, 2),
    ],
    primary_key: &["s_symb"],
};

pub(super) const DAILY_MARKET: TableSchema = TableSchema {
    name: "daily_market",
    columns: &[
        Column::date("dm_date"),
        symbol("dm_s_symb"),
        price("dm_close"),
        price("dm_high"),
        price("dm_low"),
        Column::int64("dm_vol"),
    ],
    primary_key: &["dm_s_symb", "dm_date"],
};

pub(super) const FINANCIAL: TableSchema = TableSchema {
    name: "financial",
    columns: &[
        id("fi_co_id"),
        Column::int32("fi_year"),
        Column::int32("fi_qtr"),
        Column::date("fi_qtr_start_date"),
        book("fi_revenue"),
        book("fi_net_earn"),
        value("fi_basic_eps"),
        value("fi_dilut_eps"),
        value("fi_margin"),
        book("fi_inventory"),
        book("fi_assets"),
        book("fi_liability"),
        Column::int64("fi_out_basic"),
        Column::int64("fi_out_dilut"),
    ],
    primary_key: &["fi_co_id", "fi_year", "fi_qtr"],
};

pub(super) const LAST_TRADE: TableSchema = TableSchema {
    name: "last_trade",
    columns: &[
        symbol("lt_s_symb"),
        Column::timestamp("lt_dts"),
        price("lt_price"),
        price("lt_open_price"),
        Column::int64("lt_vol"),
    ],
    primary_key: &["lt_s_symb"],
};

pub(super) const NEWS_ITEM: TableSchema = TableSchema {
    name: "news_item",
    columns: &[
        id("ni_id"),
        Column::prose("ni_headline", 80),
        Column::prose("ni_summary", 255),
        Column::prose("ni_item", 10_000),
        Column::timestamp("ni_dts"),
        Column::varchar("ni_source", 30),
        Column::varchar("ni_author", 30).or_null(),
    ],
    primary_key: &["ni_id"],
};

pub(super) const NEWS_XREF: TableSchema = TableSchema {
    name: "news_xref",
    columns: &[id("nx_ni_id"), id("nx_co_id")],
    primary_key: &["nx_co_id", "nx_ni_id"],
};
