"""Procedures in SQL Server: made once, marked, made anew when they change, gone with the tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dyno.errors import DatabaseError, UsageError
from dyno.targets.mark import schema_of
from dyno.targets.sqlserver import procedures as sqlserver
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.target import SqlServerTarget
from tests.babelfish import alone
from tests.targets.test_procedures import NAMES
from tests.targets.test_sqlserver import target_of

PLACE = schema_of("tpcc")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlServerTarget]:
    with alone() as url, target_of(url, tmp_path_factory.mktemp("mssql")) as target:
        target.remove()
        yield target
        target.remove()


@pytest.fixture
def tables(server: SqlServerTarget) -> SqlServerTarget:
    """A server with tables and without procedures."""
    if server.loaded("tpcc") is None:
        server.create_tables("tpcc", replace=False)
    with closing(server.connect("tpcc")) as session:
        for name, _ in present(session):
            session.execute(f"DROP PROCEDURE dbo.{name}")
    return server


@pytest.fixture
def session(tables: SqlServerTarget) -> Iterator[Session]:
    with closing(tables.connect("tpcc")) as session:
        yield session


def present(session: Session) -> list[tuple[str, str | None]]:
    rows = session.execute(
        "SELECT o.name, CAST(p.value AS nvarchar(4000)) FROM sys.procedures AS o LEFT JOIN "
        "sys.extended_properties AS p ON p.class = 1 AND p.major_id = o.object_id ORDER BY 1"
    ).rows
    return [(str(name), remark) for name, remark in rows]


def test_they_are_made_once_and_marked(tables: SqlServerTarget, session: Session) -> None:
    made = tables.program("tpcc")
    assert made["made"] is True
    assert sorted(made["procedures"]) == NAMES
    mark = f"dyno:tpcc procedure {made['version']}"
    assert present(session) == [(name, mark) for name in NAMES]
    assert tables.program("tpcc") == {**made, "made": False}


def test_another_version_is_replaced(
    tables: SqlServerTarget, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tables.program("tpcc")["version"]
    older = [
        f"CREATE PROCEDURE {{place}}.{name} @x int AS\nSELECT @x AS x;\nGO\n"
        for name in ("dyno_delivery", "dyno_older")
    ]
    (tmp_path / "tpcc.sql").write_text("\n".join(older))
    with monkeypatch.context() as patched:
        patched.setattr("dyno.targets.procedures.files", {sqlserver.__name__: tmp_path}.get)
        assert tables.program("tpcc")["made"] is True
        assert [name for name, _ in present(session)] == ["dyno_delivery", "dyno_older"]
    again = tables.program("tpcc")
    assert (again["made"], again["version"]) == (True, before)
    assert [name for name, _ in present(session)] == NAMES


def test_an_error_leaves_the_former_version(
    tables: SqlServerTarget, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tables.program("tpcc")["version"]
    (tmp_path / "tpcc.sql").write_text(
        "CREATE PROCEDURE {place}.dyno_delivery AS\nSELECT 1 AS x;\nGO\n"
        "CREATE PROCEDURE {place}.dyno_wrong AS\nSELECT FROM WHERE;\nGO\n"
    )
    with monkeypatch.context() as patched:
        patched.setattr("dyno.targets.procedures.files", {sqlserver.__name__: tmp_path}.get)
        with pytest.raises(DatabaseError):
            tables.program("tpcc")
    assert [name for name, _ in present(session)] == NAMES
    again = tables.program("tpcc")
    assert (again["made"], again["version"]) == (False, before)


@pytest.mark.long
def test_what_is_not_dynos_stays(tables: SqlServerTarget, session: Session) -> None:
    session.execute("CREATE PROCEDURE dbo.DYNO_payment AS SELECT 1 AS x")
    with pytest.raises(UsageError, match=r"(?i)that Dyno did not create \(dyno_payment\)"):
        tables.program("tpcc")
    session.execute("DROP PROCEDURE dbo.dyno_payment")
    session.execute("CREATE PROCEDURE dbo.mine AS SELECT 1 AS x")
    tables.program("tpcc")
    tables.create_tables("tpcc", replace=True)
    assert [name for name, _ in present(session)] == ["mine"]


@pytest.mark.long
def test_they_go_with_what_dyno_made(tables: SqlServerTarget) -> None:
    tables.program("tpcc")
    expected = [f"procedure {PLACE}.dbo.{name}" for name in NAMES]
    for found in (tables.marked(), tables.remove()):
        assert [item for item in found if item.startswith("procedure")] == expected
    assert tables.marked() == []


def test_an_error_leaves_no_transaction_open(tables: SqlServerTarget, session: Session) -> None:
    tables.program("tpcc")
    for call, expected in (
        ("dyno_new_order 7, 1, 1, '2026-01-01', '1,7,5', '1'", "warehouse 7"),
        ("dyno_payment 7, 1, 7, 1, 1, NULL, 1, '2026-01-01'", "warehouse is missing"),
        ("dyno_order_status 7, 1, NULL, 'NOBODY'", "customer is missing"),
        ("dyno_stock_level 7, 1, 10", "warehouse 7 is missing"),
    ):
        with pytest.raises(DatabaseError, match=f"(?i){expected}"):
            session.execute(f"EXECUTE dbo.{call}")
        assert session.execute("SELECT @@TRANCOUNT AS x").rows == [(0,)]
