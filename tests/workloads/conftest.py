"""Engines with the same data: a private PostgreSQL 18, and DuckDB and SQLite in memory."""

from __future__ import annotations

import importlib.util
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from dyno import targets
from dyno.contracts.target import Limits, QueryResult
from tests.conftest import missing

TPCH_TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")


@dataclass
class Session:
    """One session of either engine; ``close`` leaves the engine open for the next test."""

    name: str
    raw: Any

    def execute(self, sql: str) -> QueryResult:
        if self.name == "sqlite":  # takes one statement at a time
            *first, sql = [part for part in sql.split(";") if part.strip()] or [""]
            for part in first:
                self.raw.execute(part)
        cursor = self.raw if self.name == "duckdb" else self.raw.cursor()
        cursor.execute(sql)
        if cursor.description is None:
            return QueryResult([], [])
        return QueryResult([column[0] for column in cursor.description], cursor.fetchall())

    def cancel(self) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Connection string of a private server, gone after the tests."""
    url = targets.parse("embedded:postgresql")
    limits = Limits(memory_bytes=1 << 30, threads=2)
    with targets.open_target(url, tmp_path_factory.mktemp("postgresql"), limits) as target:
        wire = target.wire()
        yield f"host={wire['host']} user={wire['user']} dbname={wire['database']}"


def copy_table(session: Session, table: str, csv: Path) -> None:
    """Loads a CSV file with a header; empty fields are null."""
    if session.name == "duckdb":
        session.execute(f"COPY {table} FROM '{csv}' (FORMAT csv, HEADER)")
        return
    copy_in = f"COPY {table} FROM STDIN (FORMAT csv, HEADER)"
    with session.raw.cursor() as cursor, cursor.copy(copy_in) as copy:
        copy.write(csv.read_bytes())


@pytest.fixture(scope="session")
def tpch_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The eight tables at scale factor 0.01, from an independent build of the generator."""
    command = shutil.which("tpchgen-cli", path=str(Path(sys.executable).parent))
    if command is None:
        missing("tpchgen-cli (package tpchgen-cli)")
    assert command is not None
    folder = tmp_path_factory.mktemp("tpch")
    subprocess.run([command, "csv", "-s", "0.01", "-o", folder, "-q"], check=True)
    return folder


@pytest.fixture(scope="session")
def compiled() -> None:
    """For tests that ask the compiled half."""
    if importlib.util.find_spec("dyno._core") is None:
        missing("dyno._core (make build)")


@pytest.fixture(scope="session", params=["postgresql", "duckdb"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def open_session(request: pytest.FixtureRequest) -> Iterator[Callable[[str, str], Session]]:
    """Opens a session on an engine, in a schema of its own."""
    opened: list[Any] = []

    def open_one(engine: str, schema: str) -> Session:
        if engine == "duckdb":
            raw: Any = duckdb.connect()
        elif engine == "sqlite":
            raw = sqlite3.connect(":memory:", isolation_level=None)
        else:
            raw = psycopg.connect(request.getfixturevalue("postgresql"), autocommit=True)
        opened.append(raw)
        session = Session(engine, raw)
        if engine == "postgresql":
            session.execute(f"CREATE SCHEMA {schema}")
            session.execute(f"SET search_path = {schema}")
        return session

    yield open_one
    for raw in opened:
        raw.close()


@pytest.fixture(scope="session")
def tpch_sessions(
    tpch_csv: Path, open_session: Callable[[str, str], Session]
) -> dict[str, Session]:
    """Both engines with the tables of tpch at scale factor 0.01 and the standard indexes."""
    from dyno.workloads.tpch import INDEXES

    ddl = (Path(__file__).parent / "tpch.sql").read_text()
    sessions = {name: open_session(name, "tpch") for name in ("postgresql", "duckdb")}
    for session in sessions.values():
        for statement in ddl.split(";"):
            if statement.strip():
                session.execute(statement)
        for table in TPCH_TABLES:
            copy_table(session, table, tpch_csv / f"{table}.csv")
        if session.name == "postgresql":
            for index in INDEXES:
                columns = ", ".join(index.columns)
                session.execute(f"CREATE INDEX {index.name} ON {index.table} ({columns})")
            session.execute("ANALYZE")
    return sessions


@pytest.fixture
def undone() -> Iterator[Callable[[Session, str], None]]:
    """Changes data for the length of a test."""
    begun: list[Session] = []

    def change(session: Session, sql: str) -> None:
        session.execute("BEGIN")
        begun.append(session)
        session.execute(sql)

    yield change
    for session in begun:
        session.execute("ROLLBACK")
