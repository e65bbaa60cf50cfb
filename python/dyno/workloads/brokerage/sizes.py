"""Sizes of the generated rows, as lines of ``.tbl`` files."""

from __future__ import annotations

from dyno.contracts.workload import Days

SCALE_BYTES = 48_000_000
"""Of 1,000 customers without their trades."""

DAYS = Days(usual=10, most=300, bytes=22_000_000)

ROW_BYTES = {
    "status_type": 14.8,
    "taxrate": 45.4,
    "zip_code": 27.3,
    "address": 36.4,
    "sector": 16.3,
    "industry": 22.2,
    "exchange": 70.5,
    "company": 144.8,
    "company_competitor": 11.6,
    "security": 148.7,
    "daily_market": 43.1,
    "financial": 125.3,
    "last_trade": 46.1,
    "news_item": 6107.8,
    "news_xref": 8.7,
    "trade_type": 19.8,
    "charge": 12.0,
    "commission_rate": 26.0,
    "broker": 41.7,
    "customer": 158.1,
    "customer_taxrate": 9.9,
    "customer_account": 53.2,
    "account_permission": 36.7,
    "watch_list": 8.8,
    "watch_item": 10.4,
    "trade": 104.1,
    "trade_history": 39.8,
    "trade_request": 40.0,
    "settlement": 40.4,
    "cash_transaction": 107.7,
    "holding_history": 21.6,
    "holding": 55.7,
    "holding_summary": 16.5,
}
"""Measured at scale 1 and ten days; a load leaves ``trade_request`` empty."""
