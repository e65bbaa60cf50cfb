"""The workload's transactions for the scenarios: complete, small, and in portable SQL.

Each leaves the data consistent (all conditions but those right after a load), like the driver's:
its commits stay, as after a run. Statements that write come first, so that concurrent transactions
wait at their first statement rather than half-way. Orders are purchases of a security that neither
account of the scenarios has sold short, without a commission.
"""

# ruff: noqa: S608  (numbers of Dyno's own, none from outside)

from __future__ import annotations

from typing import Any

from dyno.contracts.target import Connection
from dyno.workloads import utc

ACCOUNT = 1
"""The first account of the first customer."""
SHARES = 100
_NEIGHBOUR = (
    f"(SELECT MIN(ca_id) FROM customer_account WHERE ca_id <> {ACCOUNT} AND ca_b_id = "
    f"(SELECT ca_b_id FROM customer_account WHERE ca_id = {ACCOUNT}))"
)
"""Another account with the same broker."""
_SYMBOL = (
    "(SELECT MIN(s_symb) FROM security WHERE s_symb NOT IN (SELECT hs_s_symb FROM holding_summary "
    f"WHERE hs_qty < 0 AND (hs_ca_id = {ACCOUNT} OR hs_ca_id = {_NEIGHBOUR})))"
)


def value(session: Connection, sql: str) -> Any:
    """The only value of the first row; None if there is no row."""
    rows = session.execute(sql).rows
    return rows[0][0] if rows else None


def neighbour(session: Connection) -> int:
    """Another account with the same broker."""
    return int(value(session, f"SELECT {_NEIGHBOUR}"))


def trade_order(session: Connection, account: int = ACCOUNT, *, limit: bool = False) -> int:
    """Trade-Order: orders a purchase, with ``limit`` at the last price; returns its number."""
    number = int(value(session, "SELECT MAX(t_id) + 1 FROM trade"))
    kind, status = ("TLB", "PNDG") if limit else ("TMB", "SBMT")
    session.execute(
        "INSERT INTO trade (t_id, t_dts, t_st_id, t_tt_id, t_is_cash, t_s_symb, t_qty, t_bid_price,"
        " t_ca_id, t_exec_name, t_trade_price, t_chrg, t_comm, t_tax, t_lifo) "
        f"SELECT {number}, {utc.now()}, '{status}', '{kind}', 1, lt_s_symb, {SHARES}, "
        "lt_price, ca_id, 'isolation', NULL, ch_chrg, 0, 0, 0 FROM customer_account "
        "JOIN customer ON c_id = ca_c_id "
        f"JOIN charge ON ch_tt_id = '{kind}' AND ch_c_tier = c_tier "
        f"CROSS JOIN last_trade WHERE lt_s_symb = {_SYMBOL} AND ca_id = {account}"
    )
    if limit:
        session.execute(
            "INSERT INTO trade_request (tr_t_id, tr_tt_id, tr_s_symb, tr_qty, tr_bid_price, "
            "tr_b_id) SELECT t_id, t_tt_id, t_s_symb, t_qty, t_bid_price, ca_b_id FROM trade "
            f"JOIN customer_account ON ca_id = t_ca_id WHERE t_id = {number}"
        )
    _record(session, number)
    return number


def begin_result(session: Connection, number: int, account: int = ACCOUNT) -> int | None:
    """The first half of a Trade-Result: locks the account; returns its shares, None without any."""
    session.execute(f"UPDATE customer_account SET ca_bal = ca_bal WHERE ca_id = {account}")
    held = value(session, f"SELECT hs_qty FROM holding_summary WHERE {_summary(number, account)}")
    return None if held is None else int(held)


def end_result(session: Connection, number: int, held: int | None, account: int = ACCOUNT) -> None:
    """The second half: writes the new number of shares, the holding, the payment and the trade."""
    if held is None:
        session.execute(
            "INSERT INTO holding_summary (hs_ca_id, hs_s_symb, hs_qty) "
            f"SELECT t_ca_id, t_s_symb, t_qty FROM trade WHERE t_id = {number}"
        )
    else:
        session.execute(
            f"UPDATE holding_summary SET hs_qty = {held + SHARES} WHERE {_summary(number, account)}"
        )
    session.execute(
        f"UPDATE trade SET t_dts = {utc.now()}, t_st_id = 'CMPT', "
        f"t_trade_price = t_bid_price WHERE t_id = {number}"
    )
    _record(session, number)
    session.execute(
        "INSERT INTO holding_history (hh_h_t_id, hh_t_id, hh_before_qty, hh_after_qty) "
        f"VALUES ({number}, {number}, 0, {SHARES})"
    )
    session.execute(
        "INSERT INTO holding (h_t_id, h_ca_id, h_s_symb, h_dts, h_price, h_qty) SELECT t_id, "
        f"t_ca_id, t_s_symb, t_dts, t_trade_price, t_qty FROM trade WHERE t_id = {number}"
    )
    session.execute(
        "INSERT INTO settlement (se_t_id, se_cash_type, se_cash_due_date, se_amt) SELECT t_id, "
        f"'Cash Account', {utc.today()}, -t_qty * t_trade_price - t_chrg FROM trade "
        f"WHERE t_id = {number}"
    )
    session.execute(
        "INSERT INTO cash_transaction (ct_t_id, ct_dts, ct_amt, ct_name) SELECT t_id, t_dts, "
        f"se_amt, 'isolation' FROM trade JOIN settlement ON se_t_id = t_id WHERE t_id = {number}"
    )
    session.execute(
        "UPDATE customer_account SET ca_bal = ca_bal + "
        f"(SELECT se_amt FROM settlement WHERE se_t_id = {number}) WHERE ca_id = {account}"
    )
    session.execute(
        "UPDATE broker SET b_num_trades = b_num_trades + 1 "
        f"WHERE b_id = (SELECT ca_b_id FROM customer_account WHERE ca_id = {account})"
    )


def trade_result(session: Connection, number: int, account: int = ACCOUNT) -> None:
    """Trade-Result: both halves."""
    end_result(session, number, begin_result(session, number, account), account)


def begin_feed(session: Connection, change: int = 0) -> list[int]:
    """The first half of a Market-Feed: records a price; returns the limit orders it reaches."""
    session.execute(
        f"UPDATE last_trade SET lt_price = lt_price + {change}, lt_dts = {utc.now()} "
        f"WHERE lt_s_symb = {_SYMBOL}"
    )
    rows = session.execute(
        "SELECT tr_t_id FROM trade_request JOIN last_trade ON lt_s_symb = tr_s_symb "
        f"WHERE tr_s_symb = {_SYMBOL} AND tr_tt_id = 'TLB' AND tr_bid_price >= lt_price "
        "ORDER BY tr_t_id"
    ).rows
    return [int(number) for (number,) in rows]


def end_feed(session: Connection, numbers: list[int]) -> None:
    """The second half: submits limit orders."""
    for number in numbers:
        session.execute(
            f"UPDATE trade SET t_dts = {utc.now()}, t_st_id = 'SBMT' WHERE t_id = {number}"
        )
        session.execute(f"DELETE FROM trade_request WHERE tr_t_id = {number}")
        _record(session, number)


def market_feed(session: Connection, change: int = 0) -> list[int]:
    """Market-Feed: both halves; returns the orders that it submitted."""
    numbers = begin_feed(session, change)
    end_feed(session, numbers)
    return numbers


def cash(session: Connection) -> Any:
    """The account's cash."""
    return value(session, f"SELECT ca_bal FROM customer_account WHERE ca_id = {ACCOUNT}")


def shares(session: Connection) -> int:
    """All shares of the account, which Customer-Position and Trade-Order read."""
    query = f"SELECT SUM(hs_qty) FROM holding_summary WHERE hs_ca_id = {ACCOUNT}"
    return int(value(session, query) or 0)


def holdings(session: Connection) -> int:
    """The shares of the account's holdings."""
    return int(value(session, f"SELECT SUM(h_qty) FROM holding WHERE h_ca_id = {ACCOUNT}") or 0)


def broker_trades(session: Connection) -> int:
    """Trades of the account's broker."""
    return int(
        value(
            session,
            "SELECT b_num_trades FROM broker JOIN customer_account ON ca_b_id = b_id "
            f"WHERE ca_id = {ACCOUNT}",
        )
    )


def last_trade(session: Connection) -> Any:
    """The account's last trade, which Trade-Update and Trade-Status find."""
    return value(session, f"SELECT MAX(t_id) FROM trade WHERE t_ca_id = {ACCOUNT}")


def price(session: Connection) -> Any:
    """The last price of the security, which Market-Watch reads."""
    return value(session, f"SELECT lt_price FROM last_trade WHERE lt_s_symb = {_SYMBOL}")


def _summary(number: int, account: int) -> str:
    """Condition for the account's shares in the security of a trade."""
    return (
        f"hs_ca_id = {account} AND hs_s_symb = (SELECT t_s_symb FROM trade WHERE t_id = {number})"
    )


def _record(session: Connection, number: int) -> None:
    """Records the state of a trade in its history."""
    session.execute(
        "INSERT INTO trade_history (th_t_id, th_dts, th_st_id) "
        f"SELECT t_id, t_dts, t_st_id FROM trade WHERE t_id = {number}"
    )
