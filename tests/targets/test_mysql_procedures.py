"""Procedures in MariaDB: made once, marked, made anew when they change, gone with the tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

from dyno import targets
from dyno.errors import DatabaseError, TargetError, UsageError
from dyno.targets.mark import schema_of
from dyno.targets.mysql.target import MysqlTarget
from tests.targets.conftest import LIMITS, ask, embedded_mariadb
from tests.targets.test_procedures import NAMES

PLACE = schema_of("tpcc")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MysqlTarget]:
    with embedded_mariadb(tmp_path_factory.mktemp("my")) as target:
        yield target


@pytest.fixture
def tables(server: MysqlTarget) -> Iterator[MysqlTarget]:
    # Of another kind of text and another meaning of equal than the tables.
    ask(server, f"CREATE DATABASE {PLACE} CHARACTER SET latin1 COLLATE latin1_swedish_ci")
    server.create_tables("tpcc", replace=False)
    yield server
    ask(server, f"DROP DATABASE {PLACE}")


def present(target: MysqlTarget) -> list[tuple[str, str]]:
    return ask(
        target,
        "SELECT routine_name, routine_comment FROM information_schema.routines "
        f"WHERE routine_schema = '{PLACE}' ORDER BY 1",
    )


def test_they_are_made_once_and_marked(tables: MysqlTarget) -> None:
    made = tables.program("tpcc")
    assert made["made"] is True
    assert sorted(made["procedures"]) == NAMES
    found = present(tables)
    assert found == [(name, f"dyno:tpcc procedure {made['version']}") for name in NAMES]
    assert tables.program("tpcc") == {**made, "made": False}


def test_their_texts_are_those_of_the_tables(tables: MysqlTarget) -> None:
    tables.program("tpcc")
    question = (
        "SELECT DISTINCT collation_name FROM information_schema.parameters "
        f"WHERE specific_schema = '{PLACE}' AND collation_name IS NOT NULL"
    )
    assert ask(tables, question) == [("utf8mb4_bin",)]


def test_another_version_is_replaced(
    tables: MysqlTarget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tables.program("tpcc")["version"]
    older = [
        f"CREATE PROCEDURE {{place}}.{name}(x INT) COMMENT {{mark}}\nBEGIN\n    SELECT x;\nEND;\n"
        for name in ("dyno_delivery", "dyno_older")
    ]
    (tmp_path / "tpcc.sql").write_text("\n".join(older))
    with monkeypatch.context() as patched:
        patched.setattr("dyno.targets.procedures.files", lambda _name: tmp_path)
        assert tables.program("tpcc")["made"] is True
        assert [name for name, _ in present(tables)] == ["dyno_delivery", "dyno_older"]
    again = tables.program("tpcc")
    assert (again["made"], again["version"]) == (True, before)
    assert [name for name, _ in present(tables)] == NAMES


def test_what_is_not_dynos_stays(tables: MysqlTarget) -> None:
    ask(tables, f"CREATE PROCEDURE {PLACE}.DYNO_payment() SELECT 1")
    with pytest.raises(UsageError, match=r"procedures that Dyno did not create \(DYNO_payment\)"):
        tables.program("tpcc")
    assert [name for name, _ in present(tables)] == ["DYNO_payment"]
    ask(tables, f"DROP PROCEDURE {PLACE}.dyno_payment")
    ask(tables, f"CREATE PROCEDURE {PLACE}.mine() SELECT 1")
    tables.program("tpcc")
    tables.create_tables("tpcc", replace=True)
    assert [name for name, _ in present(tables)] == ["mine"]


def test_they_go_with_what_dyno_made(tables: MysqlTarget) -> None:
    tables.program("tpcc")
    found = tables.marked()
    assert [item for item in found if item.startswith("procedure")] == [
        f"procedure {PLACE}.{name}" for name in NAMES
    ]
    assert tables.remove() == found
    assert present(tables) == []
    assert tables.marked() == []


def test_an_error_leaves_no_transaction_open(tables: MysqlTarget) -> None:
    tables.program("tpcc")
    with closing(tables.connect()) as session:
        for call, expected in (
            ("dyno_new_order(7, 1, 1, NOW(), '1,7,5', '1')", "no warehouse 7"),
            ("dyno_payment(7, 1, 7, 1, 1, NULL, 1, NOW())", "warehouse is missing"),
            ("dyno_order_status(7, 1, NULL, 'NOBODY')", "customer is missing"),
            ("dyno_stock_level(7, 1, 10)", "warehouse 7 is missing"),
        ):
            with pytest.raises(DatabaseError, match=f"(?i){expected}"):
                session.execute(f"CALL {PLACE}.{call}")
            assert session.execute("SELECT @@in_transaction").rows == [(0,)]


def test_the_grants_that_are_shown_are_enough(tables: MysqlTarget) -> None:
    socket = quote(tables.wire()["unix_socket"], safe="")
    url = targets.parse(f"mysql://clerk@localhost/?unix_socket={socket}")
    ask(tables, "CREATE USER clerk@localhost")
    ask(tables, f"GRANT SELECT, CREATE ON {PLACE}.* TO clerk@localhost")
    try:
        with targets.open_target(url, Path("/nowhere"), LIMITS) as target:
            assert isinstance(target, MysqlTarget)

            def refused() -> str:
                with pytest.raises(TargetError, match="an administrator must run: ") as caught:
                    target.program("tpcc")
                assert caught.value.kind == "denied"
                message = str(caught.value)
                found = re.search(r"GRANT .*, EXECUTE ON .* TO 'clerk'@'localhost'", message)
                assert found is not None, message
                return found[0]

            # To create them, to call those of another user, and to replace them.
            grant = refused()
            tables.program("tpcc")
            ask(tables, f"GRANT ALTER ROUTINE ON {PLACE}.* TO clerk@localhost")
            assert refused() == grant
            ask(tables, f"REVOKE ALTER ROUTINE ON {PLACE}.* FROM clerk@localhost")
            ask(tables, grant)
            assert target.program("tpcc")["made"] is False
            ask(tables, f"DROP PROCEDURE {PLACE}.dyno_delivery")
            assert target.program("tpcc")["made"] is True
    finally:
        ask(tables, "DROP USER clerk@localhost")
