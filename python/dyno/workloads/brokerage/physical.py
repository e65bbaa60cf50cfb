"""Input of physical designs: indexes, references between tables, and ranges of columns."""

from __future__ import annotations

from typing import Any

from dyno.contracts.workload import ForeignKey, Index
from dyno.workloads.brokerage.sizes import DAYS

# Frames find trades by account or security and time, holdings by account and security, customers by
# tax number, companies by name, and the rest of a company or security by it.
INDEXES = (
    Index("account_by_broker", "customer_account", ("ca_b_id",)),
    Index("account_by_customer", "customer_account", ("ca_c_id",)),
    Index("broker_by_name", "broker", ("b_name",)),
    Index("company_by_industry", "company", ("co_in_id",)),
    Index("company_by_name", "company", ("co_name",)),
    Index("customer_by_tax_id", "customer", ("c_tax_id",)),
    Index("holding_by_account", "holding", ("h_ca_id", "h_s_symb", "h_dts")),
    Index("holding_history_by_trade", "holding_history", ("hh_t_id",)),
    Index("industry_by_sector", "industry", ("in_sc_id",)),
    Index("security_by_company", "security", ("s_co_id", "s_issue")),
    Index("trade_by_account", "trade", ("t_ca_id", "t_dts")),
    Index("trade_by_security", "trade", ("t_s_symb", "t_dts")),
    Index("trade_request_by_broker", "trade_request", ("tr_b_id", "tr_s_symb")),
    # A feed finds orders by these columns only. Without the type in the index, SQL Server would
    # rather scan the small table, with locks on rows that other feeds need.
    Index("trade_request_by_security", "trade_request", ("tr_s_symb", "tr_bid_price", "tr_tt_id")),
    Index("watch_list_by_customer", "watch_list", ("wl_c_id",)),
)


def _key(table: str, column: str, other: str, other_column: str, role: str = "") -> ForeignKey:
    return ForeignKey(table, (column,), other, (other_column,), role)


FOREIGN_KEYS = (
    _key("account_permission", "ap_ca_id", "customer_account", "ca_id"),
    _key("address", "ad_zc_code", "zip_code", "zc_code"),
    _key("broker", "b_st_id", "status_type", "st_id"),
    _key("cash_transaction", "ct_t_id", "trade", "t_id"),
    _key("charge", "ch_tt_id", "trade_type", "tt_id"),
    _key("commission_rate", "cr_tt_id", "trade_type", "tt_id"),
    _key("commission_rate", "cr_ex_id", "exchange", "ex_id"),
    _key("company", "co_st_id", "status_type", "st_id"),
    _key("company", "co_in_id", "industry", "in_id"),
    _key("company", "co_ad_id", "address", "ad_id"),
    _key("company_competitor", "cp_co_id", "company", "co_id"),
    _key("company_competitor", "cp_comp_co_id", "company", "co_id", "competitor"),
    _key("company_competitor", "cp_in_id", "industry", "in_id"),
    _key("customer", "c_st_id", "status_type", "st_id"),
    _key("customer", "c_ad_id", "address", "ad_id"),
    _key("customer_account", "ca_b_id", "broker", "b_id"),
    _key("customer_account", "ca_c_id", "customer", "c_id"),
    _key("customer_taxrate", "cx_tx_id", "taxrate", "tx_id"),
    _key("customer_taxrate", "cx_c_id", "customer", "c_id"),
    _key("daily_market", "dm_s_symb", "security", "s_symb"),
    _key("exchange", "ex_ad_id", "address", "ad_id"),
    _key("financial", "fi_co_id", "company", "co_id"),
    _key("holding", "h_t_id", "trade", "t_id"),
    ForeignKey("holding", ("h_ca_id", "h_s_symb"), "holding_summary", ("hs_ca_id", "hs_s_symb")),
    _key("holding_history", "hh_h_t_id", "trade", "t_id", "held_trade"),
    _key("holding_history", "hh_t_id", "trade", "t_id"),
    _key("holding_summary", "hs_ca_id", "customer_account", "ca_id"),
    _key("holding_summary", "hs_s_symb", "security", "s_symb"),
    _key("industry", "in_sc_id", "sector", "sc_id"),
    _key("last_trade", "lt_s_symb", "security", "s_symb"),
    _key("news_xref", "nx_ni_id", "news_item", "ni_id"),
    _key("news_xref", "nx_co_id", "company", "co_id"),
    _key("security", "s_st_id", "status_type", "st_id"),
    _key("security", "s_ex_id", "exchange", "ex_id"),
    _key("security", "s_co_id", "company", "co_id"),
    _key("settlement", "se_t_id", "trade", "t_id"),
    _key("trade", "t_st_id", "status_type", "st_id"),
    _key("trade", "t_tt_id", "trade_type", "tt_id"),
    _key("trade", "t_s_symb", "security", "s_symb"),
    _key("trade", "t_ca_id", "customer_account", "ca_id"),
    _key("trade_history", "th_t_id", "trade", "t_id"),
    _key("trade_history", "th_st_id", "status_type", "st_id"),
    _key("trade_request", "tr_t_id", "trade", "t_id"),
    _key("trade_request", "tr_tt_id", "trade_type", "tt_id"),
    _key("trade_request", "tr_s_symb", "security", "s_symb"),
    _key("trade_request", "tr_b_id", "broker", "b_id"),
    _key("watch_item", "wi_wl_id", "watch_list", "wl_id"),
    _key("watch_item", "wi_s_symb", "security", "s_symb"),
    _key("watch_list", "wl_c_id", "customer", "c_id"),
)


def _customers(scale: float, _days: int | None = None) -> tuple[Any, Any]:
    return (1, round(scale * 1_000))


def _accounts(scale: float, _days: int | None = None) -> tuple[Any, Any]:
    return (1, round(scale * 10_000))


def _trades(scale: float, days: int | None = None) -> tuple[Any, Any]:
    """57.6 a customer and day."""
    return (1, round(scale * 57_600) * (DAYS.usual if days is None else days))


_BY_TRADE = {
    "trade": "t_id", "trade_history": "th_t_id", "settlement": "se_t_id",
    "cash_transaction": "ct_t_id", "holding_history": "hh_t_id", "holding": "h_t_id",
}  # fmt: skip

RANGES = {
    **dict.fromkeys(_BY_TRADE.items(), _trades),
    ("trade", "t_ca_id"): _accounts,
    ("holding", "h_ca_id"): _accounts,
    ("holding_summary", "hs_ca_id"): _accounts,
    ("customer_account", "ca_id"): _accounts,
    ("customer", "c_id"): _customers,
}
