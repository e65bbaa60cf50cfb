"""Sessions with a server that speaks SQL Server's protocol: values, transactions, cancelling."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import date, datetime
from decimal import Decimal

import pytest

from dyno import targets
from dyno.errors import DynoError, TargetError
from dyno.targets.sqlserver.address import Address
from dyno.targets.sqlserver.connection import Session, literal, quoted
from tests.babelfish import require_url

ENDLESS = "SELECT COUNT_BIG(*) FROM sys.all_columns a, sys.all_columns b, sys.all_columns c"
MANY_ROWS = "SELECT a.name, b.name FROM sys.all_columns a, sys.all_columns b"


def address() -> Address:
    return Address.parse(targets.parse(require_url()))


@pytest.fixture
def session() -> Iterator[Session]:
    with closing(Session.open(address())) as opened:
        yield opened


def test_values(session: Session) -> None:
    row = session.execute(
        "SELECT CAST(1 AS int), CAST(9000000000 AS bigint), CAST(1.25 AS decimal(15,2)), "
        "CAST('1998-12-01' AS date), CAST('1998-12-01T10:20:30.123456' AS datetime2(6)), "
        "CAST('x' AS varchar(5)), CAST(N'ß€' AS nvarchar(5)), CAST(NULL AS int), "
        "CAST(0.5 AS float)"
    ).rows[0]
    assert row == (
        *(1, 9_000_000_000, Decimal("1.25"), date(1998, 12, 1)),
        *(datetime(1998, 12, 1, 10, 20, 30, 123456), "x", "ß€", None, 0.5),
    )


def test_names_and_texts_with_any_characters(session: Session) -> None:
    odd = "a[c\"d'e ;--" + ("" if session.version.is_babelfish else "]")
    assert session.execute(f"SELECT {literal(odd)} AS {quoted(odd)}").columns == [odd]
    session.execute(f"CREATE TABLE #t ({quoted(odd)} int)")
    session.execute(f"INSERT INTO #t ({quoted(odd)}) VALUES (3)")
    assert session.execute(f"SELECT {quoted(odd)} FROM #t").rows == [(3,)]
    assert session.execute(f"SELECT {literal('100 % of %s')}").rows == [("100 % of %s",)]


def test_a_closing_bracket() -> None:
    assert quoted("a]b") == "[a]]b]"  # Babelfish cannot parse it


@pytest.mark.parametrize("rows", [999, 1000, 1001])
def test_as_many_rows_as_a_fetch_and_another_result(session: Session, rows: int) -> None:
    many = f"SELECT TOP ({rows}) a.name FROM sys.all_columns a, sys.all_objects b"
    assert len(session.execute(many).rows) == rows
    assert session.execute(f"{many}; SELECT 7 AS last").rows == [(7,)]


def test_a_batch_returns_its_last_rows(session: Session) -> None:
    result = session.execute("SELECT 1 AS a; DECLARE @x int = 2; SELECT @x AS b; SET @x = 3")
    assert (result.columns, result.rows) == (["b"], [(2,)])
    assert session.execute("DECLARE @x int").rows == []


def test_an_error_in_the_middle_of_a_batch_is_raised(session: Session) -> None:
    with pytest.raises(DynoError) as caught:
        session.execute("SELECT 1; SELECT 1 / 0; SELECT 2")
    assert caught.value.kind == "database"
    assert session.execute("SELECT 3").rows == [(3,)]


def test_begin_begins_a_transaction(session: Session) -> None:
    session.execute("BEGIN")
    assert session.execute("SELECT @@TRANCOUNT").rows == [(1,)]
    session.execute("ROLLBACK")
    assert session.execute("SELECT @@TRANCOUNT").rows == [(0,)]


def cancelled_after(session: Session, statement: str, seconds: float) -> float:
    """Seconds from the cancellation of a statement to its end; it must end as cancelled."""
    asked: list[float] = []

    def cancel() -> None:
        asked.append(time.monotonic())
        session.cancel()

    timer = threading.Timer(seconds, cancel)
    timer.start()
    with pytest.raises(TargetError) as caught:
        session.execute(statement)
    timer.join()
    assert caught.value.kind == "timeout"
    return time.monotonic() - asked[0]


@pytest.mark.parametrize("statement", [ENDLESS, MANY_ROWS], ids=["no rows yet", "rows arrive"])
def test_cancelling_from_another_thread_keeps_the_session(session: Session, statement: str) -> None:
    number = session.number
    assert cancelled_after(session, statement, 0.5) < 5
    if session.version.is_babelfish:  # which ignores the signal
        with pytest.raises(TargetError) as caught:
            session.execute("SELECT 1")
        assert caught.value.kind == "connection_lost"
        return
    assert session.execute("SELECT @@SPID").rows == [(number,)]


def test_a_cancellation_between_statements_stops_none(session: Session) -> None:
    session.cancel()
    assert session.execute("SELECT 1").rows == [(1,)]


def test_a_closed_session_is_lost_not_a_fault(session: Session) -> None:
    session.close()
    with pytest.raises(TargetError) as caught:
        session.execute("SELECT 1")
    assert caught.value.kind == "connection_lost"
    session.close()
    session.cancel()


def test_a_killed_session_is_lost(session: Session) -> None:
    with closing(Session.open(address())) as other:
        other.execute(f"KILL {session.number}")
    with pytest.raises(TargetError) as caught:
        for _ in range(100):
            session.execute("SELECT 1")
    assert caught.value.kind == "connection_lost"
