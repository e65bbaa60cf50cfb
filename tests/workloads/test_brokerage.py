"""A generated brokerage is consistent, and each condition catches its violation."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from dyno import targets, workloads
from dyno.contracts import schema
from dyno.contracts.target import Loaded
from dyno.contracts.workload import ForeignKey
from dyno.errors import UsageError
from dyno.workloads import conditions
from dyno.workloads.brokerage.checks import CHANGED, check
from dyno.workloads.brokerage.conditions import CONDITIONS
from tests.process import assert_valid, dyno
from tests.workloads.conftest import Session

Undone = Callable[[Session, str], None]

WORKLOAD = workloads.get("brokerage")
LOADED = Loaded(0.1, 7, complete=True, days=1)
PROCEDURES = Path(targets.__file__).parent / "sqlserver" / "procedures" / "brokerage"
NUMBERS = set(range(1, len(CONDITIONS) + 1))

HELD = "(SELECT MIN(h_t_id) FROM holding)"
CLOSED = "(SELECT MIN(t_id) FROM trade WHERE t_id NOT IN (SELECT h_t_id FROM holding))"
CASH = "(SELECT MIN(t_id) FROM trade WHERE t_is_cash = 1)"
MARGIN = "(SELECT MIN(t_id) FROM trade WHERE t_is_cash = 0)"
LIMIT = "(SELECT MIN(t_id) FROM trade WHERE t_tt_id = 'TLB' AND t_is_cash = 1)"
SECURITY = "(SELECT MIN(s_symb) FROM security)"
SUMMARY = (
    "hs_ca_id = 1 AND hs_s_symb = (SELECT MIN(hs_s_symb) FROM holding_summary WHERE hs_ca_id = 1)"
)


def requested(more: str) -> str:
    """A completed limit order is pending; its request is the account's broker's, plus ``more``."""
    return (
        f"UPDATE trade SET t_st_id = 'PNDG' WHERE t_id = {LIMIT}; "
        "INSERT INTO trade_request "
        f"SELECT t_id, t_tt_id, t_s_symb, t_qty, t_bid_price, ca_b_id + {more} "
        f"FROM trade JOIN customer_account ON ca_id = t_ca_id WHERE t_id = {LIMIT}"
    )


# What happened to the database, and the conditions that it violates: no more, no fewer.
VIOLATIONS = {
    "trade not counted": ("UPDATE broker SET b_num_trades = b_num_trades - 1", {1}),
    "commission off by a cent": ("UPDATE broker SET b_comm_total = b_comm_total + 0.01", {2}),
    "broker gone": ("DELETE FROM broker", {1, 2}),
    "summary off": (f"UPDATE holding_summary SET hs_qty = hs_qty + 100 WHERE {SUMMARY}", {3}),
    "summary lost": (f"DELETE FROM holding_summary WHERE {SUMMARY}", {3}),
    "submission lost": (
        "DELETE FROM trade_history WHERE th_t_id = 7 AND th_st_id = 'SBMT'", {4},
    ),
    "limit order never pending": (
        f"DELETE FROM trade_history WHERE th_t_id = {LIMIT} AND th_st_id = 'PNDG'", {4},
    ),
    "completion lost": (
        "DELETE FROM trade_history WHERE th_t_id = 7 AND th_st_id = 'CMPT'", {4, 5},
    ),
    "history without a trade": (
        "INSERT INTO trade_history SELECT 999999, th_dts, th_st_id FROM trade_history"
        " WHERE th_t_id = 7 AND th_st_id = 'SBMT'",
        {4},
    ),
    "time of another trade": (
        f"UPDATE trade SET t_dts = (SELECT MAX(t_dts) FROM trade) WHERE t_id = {CLOSED}", {5},
    ),
    "holding off": (f"UPDATE holding SET h_qty = h_qty + 100 WHERE h_t_id = {HELD}", {3, 6}),
    "holding lost": (f"DELETE FROM holding WHERE h_t_id = {HELD}", {3, 6}),
    "purchase not written down": (
        f"DELETE FROM holding_history WHERE hh_h_t_id = {HELD} AND hh_t_id = {HELD}", {6, 7},
    ),
    "quantity changed": (f"UPDATE trade SET t_qty = t_qty + 100 WHERE t_id = {CLOSED}", {7, 8}),
    "margin trade settled wrong by a cent": (
        f"UPDATE settlement SET se_amt = se_amt + 0.01 WHERE se_t_id = {MARGIN}", {8},
    ),
    "cash trade settled wrong by a cent": (
        f"UPDATE settlement SET se_amt = se_amt + 0.01 WHERE se_t_id = {CASH}", {8, 9},
    ),
    "settlement lost": (f"DELETE FROM settlement WHERE se_t_id = {MARGIN}", {8}),
    "settlement without a trade": (
        f"INSERT INTO settlement SELECT 999999, se_cash_type, se_cash_due_date, 0"
        f" FROM settlement WHERE se_t_id = {MARGIN}",
        {8},
    ),
    "cash off by a cent": (
        f"UPDATE cash_transaction SET ct_amt = ct_amt + 0.01 WHERE ct_t_id = {CASH}", {9, 10},
    ),
    "cash lost": (f"DELETE FROM cash_transaction WHERE ct_t_id = {CASH}", {9, 10}),
    "margin trade with cash": (f"UPDATE trade SET t_is_cash = 0 WHERE t_id = {CASH}", {9}),
    "balance off by a cent": (
        "UPDATE customer_account SET ca_bal = ca_bal + 0.01 WHERE ca_id = 1", {10},
    ),
    "all balances off": ("UPDATE customer_account SET ca_bal = ca_bal + 1", {10}),
    "request of a completed trade": (
        f"INSERT INTO trade_request SELECT t_id, t_tt_id, t_s_symb, t_qty, t_bid_price, 1"
        f" FROM trade WHERE t_id = {LIMIT}",
        {11},
    ),
    "pending trade without a request": (
        f"UPDATE trade SET t_st_id = 'PNDG' WHERE t_id = {LIMIT}", {1, 2, 4, 7, 8, 9, 11},
    ),
    "pending trade again": (requested("0"), {1, 2, 4, 7, 8, 9}),
    "request of another broker": (requested("1"), {1, 2, 4, 7, 8, 9, 11}),
    "last trade lost": (f"DELETE FROM last_trade WHERE lt_s_symb = {SECURITY}", {12, 13, 17}),
    "last trade before others": (
        "UPDATE last_trade SET lt_dts = (SELECT MIN(t_dts) FROM trade)"
        " WHERE lt_s_symb = (SELECT MIN(t_s_symb) FROM trade)",
        {12},
    ),
    "last price off by a cent": (
        f"UPDATE last_trade SET lt_price = lt_price + 0.01 WHERE lt_s_symb = {SECURITY}", {13},
    ),
    "volume of a market feed lost": (
        f"UPDATE last_trade SET lt_vol = lt_vol - 100 WHERE lt_s_symb = {SECURITY}", {13, 17},
    ),
    "no price": (f"UPDATE last_trade SET lt_price = 0 WHERE lt_s_symb = {SECURITY}", {13, 17}),
    "charge off by a cent": (
        "UPDATE charge SET ch_chrg = ch_chrg + 0.01 WHERE ch_tt_id = 'TMB' AND ch_c_tier = 1",
        {14},
    ),
    "customer gone": ("DELETE FROM customer WHERE c_id = 1", {14}),
    "holding at another price": (
        f"UPDATE holding SET h_price = h_price + 0.01 WHERE h_t_id = {HELD}", {15},
    ),
    "symbol not counted": (
        "UPDATE exchange SET ex_num_symb = ex_num_symb - 1 WHERE ex_id = 'COAST'", {16},
    ),
}  # fmt: skip


def in_duckdb() -> Session:
    from dyno import _core

    raw = duckdb.connect()
    for table in schema.table_names("brokerage"):
        stream = _core.arrow_stream(
            "brokerage", table, LOADED.scale, LOADED.seed, 1, _core.Control(), days=LOADED.days
        )
        raw.register("generated", pa.RecordBatchReader.from_stream(stream))
        raw.execute(f"CREATE TABLE {table} AS SELECT * FROM generated")
    return Session("duckdb", raw)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file that ``dyno load`` filled."""
    folder = tmp_path_factory.mktemp("brokerage")
    done = dyno(
        "load", "brokerage", "--target", f"sqlite:///{folder}/b.db", "--scale", "0.1",
        "--days", "1", "--seed", "7", "--json", "--out", folder,
    )  # fmt: skip
    assert assert_valid(done)["workloads"]["brokerage"]["days"] == 1
    return folder / "b.db"


@pytest.fixture(scope="module", params=["duckdb", "sqlite"])
def session(request: pytest.FixtureRequest) -> Session:
    if request.param == "duckdb":
        return in_duckdb()
    path = request.getfixturevalue("file")
    return Session("sqlite", sqlite3.connect(path, isolation_level=None))


def failed(session: Session) -> set[int]:
    checks = conditions.check_all("any", session, CONDITIONS, "load")
    for item in checks:
        json.dumps(item.detail)
    pairs = zip(CONDITIONS, checks, strict=True)
    return {condition.number for condition, item in pairs if item.passed is not True}


def test_conditions_are_numbered_and_each_has_a_violation() -> None:
    assert [condition.number for condition in CONDITIONS] == sorted(NUMBERS)
    assert set().union(*(numbers for _, numbers in VIOLATIONS.values())) == NUMBERS


@pytest.mark.usefixtures("compiled")
def test_generated_data_passes_all_checks(session: Session) -> None:
    checks = check("any", lambda: session, LOADED, "load")
    assert [item for item in checks if item.passed is not True] == []
    assert len(checks) == 33 + len(CONDITIONS)
    after_run = check("any", lambda: session, LOADED, "run")
    assert len(after_run) == 33 - len(CHANGED) + len(CONDITIONS)
    skipped = {item.name for item in after_run if item.passed is None}
    assert skipped == {"condition 12", "condition 13"}


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("what", VIOLATIONS)
def test_a_violation_is_caught(what: str, session: Session, undone: Undone) -> None:
    change, numbers = VIOLATIONS[what]
    undone(session, change.replace("0.01", "1") if session.name == "sqlite" else change)
    assert failed(session) == numbers


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("key", WORKLOAD.foreign_keys, ids=lambda key: key.name)
def test_references_hold(key: ForeignKey, file: Path) -> None:
    pairs = zip(key.columns, key.other_columns, strict=True)
    same = " AND ".join(f"one.{column} = other.{wanted}" for column, wanted in pairs)
    with sqlite3.connect(file) as raw:
        lost = raw.execute(
            f"SELECT COUNT(*) FROM {key.table} AS one "
            f"WHERE NOT EXISTS (SELECT 1 FROM {key.other} AS other WHERE {same})"
        ).fetchone()
    assert lost == (0,)


def test_a_feed_finds_limit_orders_in_one_index_alone() -> None:
    text = (PROCEDURES / "exchange.sql").read_text("utf-8")
    (wanted,) = re.findall(r"FROM \{place\}\.trade_request WITH \(UPDLOCK\)(.*?);", text, re.DOTALL)
    used = set(re.findall(r"tr_\w+", wanted))
    (index,) = [one for one in WORKLOAD.indexes if one.name == "trade_request_by_security"]
    assert used == set(index.columns)


@pytest.mark.usefixtures("compiled")
def test_keys_indexes_and_sizes_are_of_the_schema() -> None:
    tables = {table["name"]: table for table in schema.tables("brokerage")}
    assert len(tables) == 33
    assert set(WORKLOAD.row_bytes) == set(tables)

    def columns(table: str) -> set[str]:
        return {column["name"] for column in tables[table]["columns"]}

    for index in WORKLOAD.indexes:
        assert set(index.columns) <= columns(index.table), index.name
    names = [key.name for key in WORKLOAD.foreign_keys]
    assert len(set(names)) == len(names)
    for key in WORKLOAD.foreign_keys:
        assert set(key.columns) <= columns(key.table), key.name
        assert set(key.other_columns) == set(tables[key.other]["primary_key"]), key.name
    for table, column in WORKLOAD.ranges:
        assert column in columns(table)


@pytest.mark.parametrize("scale", [0.0, 0.05, 0.15, 10_001.0, -1.0, float("nan")])
def test_impossible_scales_are_refused(scale: float) -> None:
    with pytest.raises(UsageError, match="--scale is thousands of customers"):
        WORKLOAD.parse_scale(scale)


def test_scales_are_steps_of_a_hundred_customers() -> None:
    assert [WORKLOAD.parse_scale(scale) for scale in (0.1, 0.3, 1, 2.5)] == [0.1, 0.3, 1.0, 2.5]


def test_days_have_a_usual_number_and_a_maximum() -> None:
    assert [WORKLOAD.parse_days(days) for days in (None, 1, 300)] == [10, 1, 300]
    with pytest.raises(UsageError, match="--days must be 1 to 300, not 301"):
        WORKLOAD.parse_days(301)
    with pytest.raises(UsageError, match="The data of tpcc has no initial days; remove --days"):
        workloads.get("tpcc").parse_days(10)
    assert WORKLOAD.raw_bytes(2, 300) > 20 * WORKLOAD.raw_bytes(2)
    assert WORKLOAD.raw_bytes(2) > 3 * WORKLOAD.raw_bytes(2, 1)
