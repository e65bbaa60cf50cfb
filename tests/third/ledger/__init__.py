"""A ledger: accounts and their entries, three operations, one consistency condition."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any, Literal

from dyno import _core
from dyno.bundle.model import Check
from dyno.contracts.target import Connection, Loaded
from dyno.contracts.transactions import Pace, Transactions, Work
from dyno.contracts.workload import Index, Workload
from dyno.errors import UsageError
from dyno.workloads.rows import check_rows, count, expected_rows

NAME = "ledger"
ACCOUNTS = 1_000
OPENING = 10_000
OPENED_US = 1_735_689_600_000_000


def _column(name: str, value: Any, **kind: Any) -> dict[str, Any]:
    return {"name": name, "value": value, "kind": kind}


_core.declare(
    json.dumps({
        "name": NAME,
        "tables": [
            {
                "name": "account", "rows": ACCOUNTS, "primary_key": ["a_id"],
                "columns": [
                    _column("a_id", "row", type="int32"),
                    _column("a_name", {"letters": [5, 20]}, type="varchar", max=20),
                    _column("a_balance", {"between": [OPENING, OPENING]}, type="int64"),
                ],
            },
            {
                "name": "entry", "rows": ACCOUNTS,
                "columns": [
                    _column("e_account", "row", type="int32"),
                    _column("e_amount", {"between": [OPENING, OPENING]}, type="int64"),
                    _column("e_at", {"between": [OPENED_US, OPENED_US]}, type="timestamp"),
                ],
            },
        ],
    })
)  # fmt: skip

MIX = {"deposit": 0.5, "withdrawal": 0.3, "balance": 0.2}


def _booked(name: str, sign: str) -> list[dict[str, Any]]:
    change = f"update account set a_balance = a_balance {sign} $1 where a_id = $2"
    entry = f"insert into entry (e_account, e_amount, e_at) values ($1, {sign}$2, $3)"
    return [
        {"name": f"{name}_account", "sql": change, "given": ["amount", "account"], "rows": 1},
        {"name": f"{name}_entry", "sql": entry, "given": ["account", "amount", "now"], "rows": 1},
    ]


def _params(work: Work) -> dict[str, Any]:
    accounts = int(ACCOUNTS * work.loaded.scale)
    inputs = [
        {"name": "account", "least": 1, "greatest": accounts},
        {"name": "amount", "least": 1, "greatest": 500},
    ]
    asked = "select a_balance from account where a_id = $1"
    steps = {
        "deposit": _booked("deposit", "+"),
        "withdrawal": _booked("withdrawal", "-"),
        "balance": [
            {"name": "ask", "sql": asked, "given": ["account"], "returns": ["big_int"], "rows": 1}
        ],
    }
    return {
        "name": NAME,
        "operations": [
            {"name": name, "weight": share, "inputs": inputs, "steps": steps[name]}
            for name, share in MIX.items()
        ],
    }


CONDITION = """
    SELECT a_id FROM (
        SELECT a_id, a_balance AS balance, 0 AS amount FROM account
        UNION ALL
        SELECT e_account, 0, e_amount FROM entry
    ) AS sides
    GROUP BY a_id
    HAVING SUM(balance) <> SUM(amount)
"""


def check(
    target: str,
    connect: Callable[[], Connection],
    loaded: Loaded,
    after: Literal["load", "run"],
) -> list[Check]:
    """Rows, and that each balance is the sum of the account's entries."""
    with contextlib.closing(connect()) as connection:
        expected = expected_rows(NAME, loaded)
        if after == "run":
            expected = {"account": expected["account"]}
        rows = check_rows(target, connection, expected)
        wrong = count(connection, f"({CONDITION}) AS violations")
        title = "A_BALANCE is the sum of the account's E_AMOUNT"
        message = f"violated in {wrong:,} places: {title}" if wrong else title
        detail = {"title": title, "violations": wrong}
        passed = not wrong
        return [
            *rows,
            Check(name="condition 1", target=target, passed=passed, message=message, detail=detail),
        ]


def parse_scale(scale: float) -> float:
    """Thousands of accounts.

    Raises:
        UsageError: If they are not whole.
    """
    if not 1 <= scale <= 1_000 or scale != int(scale):
        raise UsageError(f"The scale must be whole, from 1 to 1000, not {scale:g}.")
    return scale


WORKLOAD = Workload(
    name=NAME,
    kind="oltp",
    title="Ledger",
    notice="Made for tests; comparable with nothing.",
    bytes_per_scale=100_000,
    row_bytes={"account": 23.0, "entry": 24.0},
    parse_scale=parse_scale,
    check=check,
    indexes=(Index("entry_by_account", "entry", ("e_account",)),),
    transactions=Transactions(
        main="deposit",
        plural="deposits",
        mix=MIX,
        kind="script",
        params=_params,
        unit="office",
        pace=Pace(users=20, per_min=100.0),
    ),
)
