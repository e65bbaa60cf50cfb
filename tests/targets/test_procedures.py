"""Procedures in PostgreSQL: made once, marked, made anew when they change, gone with the tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dyno import targets
from dyno.contracts.target import Limits
from dyno.errors import TargetError, UsageError
from dyno.targets.mark import schema_of
from dyno.targets.postgresql.target import PostgresTarget
from tests.targets.conftest import ask
from tests.targets.test_connection import at

PLACE = schema_of("tpcc")
NAMES = [
    f"dyno_{name}" for name in ("delivery", "new_order", "order_status", "payment", "stock_level")
]


@pytest.fixture
def tables(postgres: PostgresTarget) -> Iterator[PostgresTarget]:
    postgres.create_tables("tpcc", replace=False)
    yield postgres
    ask(postgres, f"DROP SCHEMA IF EXISTS {PLACE} CASCADE")


def present(target: PostgresTarget) -> list[tuple[str, str]]:
    return ask(
        target,
        "SELECT proname, obj_description(p.oid, 'pg_proc') FROM pg_proc p "
        f"WHERE pronamespace = '{PLACE}'::regnamespace ORDER BY 1",
    )


def test_they_are_made_once_and_marked(tables: PostgresTarget) -> None:
    made = tables.program("tpcc")
    assert made["made"] is True
    assert sorted(made["procedures"]) == NAMES
    found = present(tables)
    assert found == [(name, f"dyno:tpcc procedure {made['version']}") for name in NAMES]
    assert tables.program("tpcc") == {**made, "made": False}


def test_another_version_is_replaced(
    tables: PostgresTarget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tables.program("tpcc")["version"]
    older = "CREATE PROCEDURE {place}.dyno_delivery(IN x text) LANGUAGE sql AS $$SELECT 1$$;\n"
    older += "CREATE PROCEDURE {place}.dyno_older() LANGUAGE sql AS $$SELECT 1$$;\n"
    (tmp_path / "tpcc.sql").write_text(older)
    with monkeypatch.context() as patched:
        patched.setattr("dyno.targets.procedures.files", lambda _name: tmp_path)
        assert tables.program("tpcc")["made"] is True
        assert [name for name, _ in present(tables)] == ["dyno_delivery", "dyno_older"]
    again = tables.program("tpcc")
    assert (again["made"], again["version"]) == (True, before)
    assert [name for name, _ in present(tables)] == NAMES


def test_what_is_not_dynos_stays(tables: PostgresTarget) -> None:
    ask(tables, f"CREATE FUNCTION {PLACE}.dyno_payment() RETURNS int LANGUAGE sql AS 'SELECT 1'")
    with pytest.raises(UsageError, match=r"routines that Dyno did not create \(dyno_payment\)"):
        tables.program("tpcc")
    assert [name for name, _ in present(tables)] == ["dyno_payment"]
    ask(tables, f"ALTER FUNCTION {PLACE}.dyno_payment RENAME TO mine")
    tables.program("tpcc")
    tables.create_tables("tpcc", replace=True)
    assert [name for name, _ in present(tables)] == ["mine"]


def test_they_go_with_what_dyno_made(tables: PostgresTarget) -> None:
    tables.program("tpcc")
    found = tables.marked()
    assert [item for item in found if item.startswith("procedure")] == [
        f"procedure {PLACE}.{name}" for name in NAMES
    ]
    assert tables.remove() == found
    assert ask(tables, f"SELECT 1 FROM pg_namespace WHERE nspname = '{PLACE}'") == []


def test_they_heed_no_search_path(tables: PostgresTarget) -> None:
    tables.program("tpcc")
    ask(
        tables,
        f"INSERT INTO {PLACE}.district (d_w_id, d_id, d_name, d_street_1, d_street_2, d_city, "
        "d_state, d_zip, d_tax, d_ytd, d_next_o_id) "
        "VALUES (1, 1, '', '', '', '', '', '', 0, 0, 3001)",
    )
    hijacked = (
        "CREATE TEMP TABLE district (d_w_id int, d_id int, d_next_o_id text); "
        "INSERT INTO district VALUES (1, 1, 'wrong'); SET search_path = pg_temp; "
        f"CALL {PLACE}.dyno_stock_level(1, 1, 10, NULL)"
    )
    assert ask(tables, hijacked) == [(0,)]


def test_a_role_that_may_not_create_them_is_reported(tables: PostgresTarget) -> None:
    ask(tables, "CREATE ROLE clerk LOGIN")
    try:
        with at(tables, user="clerk") as target:
            with pytest.raises(TargetError, match="GRANT USAGE, CREATE ON SCHEMA") as caught:
                target.program("tpcc")
            assert caught.value.kind == "denied"
            # If they exist already, it need not create them.
            tables.program("tpcc")
            assert target.program("tpcc")["made"] is False
    finally:
        ask(tables, "DROP ROLE clerk")


def test_targets_without_procedures_say_why() -> None:
    for name in targets.names():
        able, _ = targets.about(name)
        expected = name in {"mysql", "postgresql", "sqlserver", "null"}
        assert (able.procedure is True) is expected, name
    url = targets.parse("embedded:sqlite")
    limits = Limits(1 << 30, 1)
    reason = targets.open_target(url, Path("/nowhere"), limits).capabilities.procedure
    assert "no stored procedures" in str(reason)
