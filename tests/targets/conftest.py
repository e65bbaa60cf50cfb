"""Servers and schemas that the tests of targets share."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dyno import _core, targets
from dyno.contracts import schema
from dyno.contracts.target import Limits, LoadOutcome, LoadPlan, Target
from dyno.targets.mysql.target import MysqlTarget
from dyno.targets.postgresql.target import PostgresTarget
from tests.mariadb import require_mariadb

LIMITS = Limits(memory_bytes=256 << 20, threads=2)


def column(name: str, kind: dict[str, Any], *, nullable: bool = False) -> dict[str, Any]:
    """A column as the compiled half declares it."""
    return {"name": name, "kind": kind, "nullable": nullable, "prose": False}


ITEMS: list[dict[str, Any]] = [
    {
        "name": "item",
        "columns": [
            column("i_id", {"type": "int32"}),
            column("i_big", {"type": "int64"}),
            column("i_price", {"type": "decimal", "precision": 15, "scale": 2}, nullable=True),
            column("i_code", {"type": "char", "len": 5}),
            column("i_name", {"type": "varchar", "max": 20}),
            column("i_day", {"type": "date"}),
            column('i "at"', {"type": "timestamp"}, nullable=True),
        ],
        "primary_key": ["i_id"],
    },
    {
        "name": "log",
        "columns": [column("l_text", {"type": "varchar", "max": 9}, nullable=True)],
        "primary_key": [],
    },
]
"""Tables with every type; the workload that has them is called ``items``."""


def load_only(target: Target, plan: LoadPlan, *tables: str) -> LoadOutcome:
    """Loads some of a workload's tables, as a load does that is cut off after them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "table_names", lambda workload: list(tables))
        return target.load(plan, _core.Control())


def embedded(out: Path) -> PostgresTarget:
    """A private PostgreSQL that is not started yet."""
    target = targets.open_target(targets.parse("embedded:postgresql"), out, LIMITS)
    assert isinstance(target, PostgresTarget)
    return target


def embedded_mariadb(out: Path) -> MysqlTarget:
    """A private MariaDB that is not started yet. Skips where there is no ``mariadbd``."""
    require_mariadb()
    target = targets.open_target(targets.parse("embedded:mysql"), out, LIMITS)
    assert isinstance(target, MysqlTarget)
    return target


def ask(target: Target, statement: str) -> list[Any]:
    """The rows of a statement in a session of its own."""
    with closing(target.connect()) as session:
        return session.execute(statement).rows


@pytest.fixture
def items(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a workload with the tables above, without the compiled half."""
    monkeypatch.setattr(schema, "tables", lambda workload: ITEMS)
    return "items"


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresTarget]:
    """A running server that tests may fill but not break."""
    with embedded(tmp_path_factory.mktemp("pg")) as target:
        yield target


@pytest.fixture
def empty_postgres(postgres: PostgresTarget) -> Iterator[PostgresTarget]:
    """The same without a workload's tables, which go again: other modules' tests use it, too."""
    drop = "DROP SCHEMA IF EXISTS dyno_tpch, dyno_tpcc CASCADE"
    ask(postgres, drop)
    yield postgres
    ask(postgres, drop)


@contextlib.contextmanager
def public_folder() -> Iterator[Path]:
    """A folder that every user can reach, unlike pytest's own; removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="dyno-test-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def public_out() -> Iterator[Path]:
    """An output folder that every user can reach."""
    with public_folder() as folder:
        yield folder
