"""Each consistency condition catches its violation, and consistent data passes them all."""

from __future__ import annotations

import json
from collections.abc import Callable

import duckdb
import pyarrow as pa
import pytest

from dyno.contracts.schema import table_names
from dyno.contracts.target import Loaded
from dyno.workloads.tpcc.checks import FIXED, check, check_conditions
from dyno.workloads.tpcc.conditions import CONDITIONS
from tests.workloads import tpcc_data
from tests.workloads.conftest import Session, copy_table

Undone = Callable[[Session, str], None]


def place(prefix: str, o_id: int) -> str:
    return f"{prefix}_w_id = 1 AND {prefix}_d_id = 1 AND {prefix}_o_id = {o_id}"


AN_ORDER = "o_w_id = 1 AND o_d_id = 1 AND o_id = 907"
CUSTOMER_3 = "c_w_id = 1 AND c_d_id = 1 AND c_id = 3"
DISTRICT_1 = "d_w_id = 1 AND d_id = 1"
STOCK_2 = "s_w_id = 1 AND s_i_id = 2"

# What happened to the database, and the conditions that it violates: no more, no fewer.
LOADED = Loaded(1, 7, complete=True)
VIOLATIONS = {
    "warehouse total off by a cent": (
        "UPDATE warehouse SET w_ytd = w_ytd + 0.01 WHERE w_id = 1",
        {1, 8},
    ),
    "district total off by a cent": (
        f"UPDATE district SET d_ytd = d_ytd + 0.01 WHERE {DISTRICT_1}",
        {1, 9},
    ),
    "payment booked in the wrong district": (
        "UPDATE district SET d_ytd = d_ytd + CASE d_id WHEN 1 THEN 5 ELSE -5 END WHERE d_w_id = 1",
        {9},
    ),
    "order number drawn twice or skipped": (
        f"UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE {DISTRICT_1}",
        {2},
    ),
    "last new order lost": (
        f"DELETE FROM new_order WHERE {place('no', 3004)}",
        {2, 5, 11},
    ),
    "new order lost between others": (
        f"DELETE FROM new_order WHERE {place('no', 3002)}",
        {3, 5, 11},
    ),
    "new order without an order": ("INSERT INTO new_order VALUES (3005, 1, 1)", {2, 5, 11}),
    "wrong number of lines": (
        f"UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE {AN_ORDER}",
        {4, 6},
    ),
    "line under a neighbouring order": (
        "UPDATE orders SET o_ol_cnt = o_ol_cnt + CASE o_id WHEN 907 THEN 1 ELSE -1 END"
        " WHERE o_w_id = 1 AND o_d_id = 1 AND o_id IN (907, 908)",
        {6},
    ),
    "line lost": (f"DELETE FROM order_line WHERE {place('ol', 905)} AND ol_number = 1", {4, 6}),
    "line without an order": (
        "INSERT INTO order_line VALUES (9999, 1, 1, 1, NULL, 1.00, 1, 1, 1)",
        {4, 6, 7, 13},
    ),
    "carrier forgotten": (f"UPDATE orders SET o_carrier_id = NULL WHERE {AN_ORDER}", {5, 7}),
    "carrier on an undelivered order": (
        "UPDATE orders SET o_carrier_id = 1 WHERE o_w_id = 1 AND o_d_id = 1 AND o_id = 3004",
        {5, 7},
    ),
    "delivery date forgotten": (
        f"UPDATE order_line SET ol_delivery_d = NULL WHERE {place('ol', 905)} AND ol_number = 1",
        {7},
    ),
    "payment not written down": (
        "DELETE FROM history WHERE h_c_w_id = 1 AND h_c_d_id = 1 AND h_c_id = 3",
        {8, 9, 10},
    ),
    "payment to a customer that is none": (
        "UPDATE history SET h_c_id = 999 WHERE h_c_w_id = 1 AND h_c_d_id = 1 AND h_c_id = 3",
        {10},
    ),
    "balance and payments off by a cent": (
        "UPDATE customer SET c_balance = c_balance + 0.01, c_ytd_payment = c_ytd_payment - 0.01"
        f" WHERE {CUSTOMER_3}",
        {10},
    ),
    "payments off by a cent": (
        f"UPDATE customer SET c_ytd_payment = c_ytd_payment + 0.01 WHERE {CUSTOMER_3}",
        {12},
    ),
    "delivery not charged": (
        f"UPDATE customer SET c_balance = c_balance - 0.01 WHERE {CUSTOMER_3}",
        {10, 12},
    ),
    "line's amount changed": (
        f"UPDATE order_line SET ol_amount = 1 WHERE {place('ol', 905)} AND ol_number = 1",
        {10, 12},
    ),
    "quantity taken from the stock lost": (
        f"UPDATE stock SET s_ytd = s_ytd - 1 WHERE {STOCK_2}",
        {13},
    ),
    "line taken from the stock counted twice": (
        f"UPDATE stock SET s_order_cnt = s_order_cnt + 1 WHERE {STOCK_2}",
        {13},
    ),
    "line for another warehouse not counted": (
        f"UPDATE stock SET s_remote_cnt = s_remote_cnt - 1 WHERE {STOCK_2}",
        {13},
    ),
    "line of a new order taken from another warehouse": (
        f"UPDATE order_line SET ol_supply_w_id = 2 WHERE {place('ol', 3004)} AND ol_number = 1",
        {13},
    ),
    "one order too few": (
        "DELETE FROM orders WHERE o_w_id = 1 AND o_d_id = 1 AND o_id = 905; "
        f"DELETE FROM order_line WHERE {place('ol', 905)}",
        {11},
    ),
    # Whole groups missing: what inner joins would let pass.
    "a warehouse gone": ("DELETE FROM warehouse WHERE w_id = 1", {1, 8}),
    "a warehouse's districts gone": ("DELETE FROM district WHERE d_w_id = 1", {1, 2, 9}),
    "a district's history gone": (
        "DELETE FROM history WHERE h_w_id = 1 AND h_d_id = 1",
        {8, 9, 10},
    ),
    "a warehouse's stock gone": ("DELETE FROM stock WHERE s_w_id = 1", {13}),
    "a customer gone": (f"DELETE FROM customer WHERE {CUSTOMER_3}", {10, 12}),
    "a district's lines gone": (
        "DELETE FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 1",
        {4, 6, 10, 12, 13},
    ),
    "a district's orders gone": (
        "DELETE FROM orders WHERE o_w_id = 1 AND o_d_id = 1",
        {2, 4, 5, 6, 7, 10, 11, 12},
    ),
    "a district's orders, new orders and lines gone": (
        "DELETE FROM orders WHERE o_w_id = 1 AND o_d_id = 1; "
        "DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 1; "
        "DELETE FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 1",
        {2, 10, 11, 12, 13},
    ),
    "new orders of a district gone": (
        "DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 1",
        {5, 11},
    ),
}

# Every new order is delivered: consistent, but no longer as loaded.
DELIVER_ALL = """
    UPDATE customer SET c_balance = c_balance + (
        SELECT COALESCE(SUM(ol_amount), 0)
        FROM orders
        JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
        WHERE o_carrier_id IS NULL AND o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
    );
    UPDATE order_line SET ol_delivery_d = '2024-03-01 00:00:00'
    WHERE ol_delivery_d IS NULL;
    UPDATE orders SET o_carrier_id = 1 WHERE o_carrier_id IS NULL;
    DELETE FROM new_order
"""


@pytest.fixture(scope="module", params=["postgresql", "duckdb", "sqlite"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def session(
    engine: str,
    open_session: Callable[[str, str], Session],
    tmp_path_factory: pytest.TempPathFactory,
) -> Session:
    session = open_session(engine, "tpcc")
    for statement in tpcc_data.DDL.split(";"):
        session.execute(statement)
    if engine == "sqlite":
        for table, rows in tpcc_data.in_cents():
            places = ", ".join("?" * len(rows[0]))
            session.raw.executemany(f"INSERT INTO {table} VALUES ({places})", rows)
        return session
    for table, path in tpcc_data.write(tmp_path_factory.mktemp("tpcc")):
        copy_table(session, table, path)
    return session


def worded(session: Session, sql: str) -> str:
    """A change for an engine: amounts are whole cents in SQLite."""
    return sql.replace("0.01", "1") if session.name == "sqlite" else sql


def test_the_conditions_are_numbered_1_to_13() -> None:
    assert [condition.number for condition in CONDITIONS] == list(range(1, 14))
    assert len({condition.title for condition in CONDITIONS}) == 13


def test_every_condition_has_a_violation() -> None:
    assert set().union(*(numbers for _, numbers in VIOLATIONS.values())) == set(range(1, 14))


def test_consistent_data_passes(session: Session) -> None:
    checks = check_conditions("any", session, "load")
    assert [item.name for item in checks] == [f"condition {number}" for number in range(1, 14)]
    assert [item for item in checks if item.passed is not True] == []


@pytest.mark.parametrize("what", VIOLATIONS)
def test_a_violation_is_caught(what: str, session: Session, undone: Undone) -> None:
    change, numbers = VIOLATIONS[what]
    undone(session, worded(session, change))
    failed = [item for item in check_conditions("any", session, "load") if not item.passed]
    assert {item.name for item in failed} == {f"condition {number}" for number in numbers}
    for item in failed:
        assert item.message.startswith("violated in ")
        assert 1 <= len(item.detail["rows"]) <= 5
        assert item.detail["violations"] >= len(item.detail["rows"])
        json.dumps(item.detail)


def test_deliveries_keep_all_but_condition_11(session: Session, undone: Undone) -> None:
    undone(session, DELIVER_ALL)
    after_run = check_conditions("any", session, "run")
    assert {item.name for item in after_run if item.passed is None} == {"condition 11"}
    assert [item for item in after_run if item.passed is False] == []
    skipped = after_run[10]
    assert "only right after a load" in skipped.message
    after_load = check_conditions("any", session, "load")
    assert {item.name for item in after_load if not item.passed} == {"condition 11"}


def test_the_message_names_the_place_with_every_digit(session: Session, undone: Undone) -> None:
    change = f"UPDATE district SET d_ytd = d_ytd + 0.01 WHERE {DISTRICT_1}"
    undone(session, worded(session, change))
    found = check_conditions("any", session, "run")[8]
    ytd, paid = (266913, 266912) if session.name == "sqlite" else ("2669.13", "2669.12")
    assert found.message == (
        "violated in 1 place: D_YTD is the sum of H_AMOUNT paid in the district; "
        f"first: w_id 1, d_id 1, d_ytd {ytd}, sum_h_amount {paid}"
    )
    assert found.detail["rows"][0]["d_ytd"] == ytd


def test_many_violations_are_counted_and_five_shown(session: Session, undone: Undone) -> None:
    undone(session, "UPDATE customer SET c_balance = c_balance + 1")
    found = check_conditions("any", session, "load")[9]
    assert found.detail["violations"] == 80
    assert len(found.detail["rows"]) == 5
    assert found.message.startswith("violated in 80 places: ")


@pytest.mark.usefixtures("compiled")
def test_generated_data_passes_whatever_the_seed() -> None:
    from dyno import _core

    raw = duckdb.connect()
    for table in table_names("tpcc"):
        stream = _core.arrow_stream("tpcc", table, LOADED.scale, LOADED.seed, 2, _core.Control())
        raw.register("generated", pa.RecordBatchReader.from_stream(stream))
        raw.execute(f"CREATE TABLE {table} AS SELECT * FROM generated")
    session = Session("duckdb", raw)
    checks = check("any", lambda: session, LOADED, "load")
    assert [item for item in checks if item.passed is not True] == []
    assert len(checks) == 9 + 13
    raw.execute("DELETE FROM stock WHERE s_i_id = 1; DELETE FROM order_line WHERE ol_number > 9")
    failed = {
        item.name for item in check("any", lambda: session, LOADED, "load") if not item.passed
    }
    assert {"rows of stock", "rows of order_line", "condition 4", "condition 6"} <= failed


@pytest.mark.usefixtures("compiled")
def test_a_row_that_a_run_lost_is_missed() -> None:
    from dyno import _core

    raw = duckdb.connect()
    for table in table_names("tpcc"):
        stream = _core.arrow_stream("tpcc", table, LOADED.scale, LOADED.seed, 2, _core.Control())
        raw.register("generated", pa.RecordBatchReader.from_stream(stream))
        raw.execute(f"CREATE TABLE {table} AS SELECT * FROM generated")

    closed: list[bool] = []

    class Watched(Session):
        def close(self) -> None:
            closed.append(True)

    def failed() -> set[str]:
        checks = check("any", lambda: Watched("duckdb", raw), LOADED, "run")
        assert [item.name for item in checks] == [
            *(f"rows of {table}" for table in FIXED),
            *(condition.name for condition in CONDITIONS),
        ]
        assert closed.pop() is True
        return {item.name for item in checks if item.passed is False}

    assert failed() == set()
    for table in FIXED:
        raw.execute(f"BEGIN; DELETE FROM {table} WHERE rowid = (SELECT max(rowid) FROM {table})")
        assert f"rows of {table}" in failed()
        raw.execute("ROLLBACK")
