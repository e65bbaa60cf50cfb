"""Statements that create databases and tables, as text: the test server ignores or lacks parts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dyno.contracts.layout import Layout
from dyno.errors import DynoError
from dyno.targets.sqlserver import database, ddl, diagnosed, space
from dyno.targets.sqlserver.version import Version
from tests.scriptdom import mistakes, require_scriptdom
from tests.targets.conftest import ITEMS

GOLDEN = Path(__file__).parent / "golden" / "sqlserver" / "ddl.sql"
LAYOUT = Layout(name="default", workload="tpch")

VERSIONS = {
    "2017": Version("SQL Server", (14, 0, 3456)),
    "2022": Version("SQL Server", (16, 0, 4135)),
    "Azure": Version("Azure SQL Managed Instance", (12, 0, 2000)),
    "Babelfish": Version("Babelfish", (4, 3, 0)),
}


def statements() -> Iterator[tuple[str, str]]:
    """Every statement, with its name."""
    for name, version in VERSIONS.items():
        for number, text in enumerate(database.created("tpch", version, LAYOUT)):
            yield f"database on {name}, {number}", text
        yield f"table on {name}", ddl.create_table(ITEMS[0], ddl.collation(version))
    yield "first file of a database", database.PRIMARY
    yield "table with a key", ddl.create_table(ITEMS[0], "", ["i_id", 'i "at"'])
    yield "mark", ddl.marking("o'rders", 'dyno:tpch {"scale": 1}')
    yield "size of databases", space.ALL.format("[dyno_tpch]")
    named = {"place": "[dyno_tpch]", "table": "N'lineitem'", "index": "N'lineitem_pkey'"}
    yield "size of a table", space.TABLE.format(**named)
    yield "size of an index", space.INDEX.format(**named)


def text() -> str:
    return "".join(f"-- {name}\n{sql}\n" for name, sql in statements())


def test_as_recorded() -> None:
    if os.environ.get("DYNO_UPDATE_GOLDEN") == "1":
        GOLDEN.write_text(text(), encoding="utf-8")
    assert text() == GOLDEN.read_text(encoding="utf-8")


def test_the_grammar_of_sql_server_accepts_them() -> None:
    require_scriptdom()
    texts = [sql for _, sql in statements()]
    texts += [sql for section in diagnosed.SECTIONS.values() for sql in section.values()]
    texts += [f"SELECT TOP (0) * FROM {view}" for view in diagnosed.VIEWS]
    wrong = {sql: found for sql, found in zip(texts, mistakes(texts), strict=True) if found}
    assert not wrong


def test_long_texts() -> None:
    assert ddl.column_type({"type": "varchar", "max": 8000}) == "varchar(8000)"
    assert ddl.column_type({"type": "varchar", "max": 8001}) == "varchar(max)"


def test_an_unknown_type() -> None:
    with pytest.raises(DynoError, match="blob"):
        ddl.column_type({"type": "blob"})


def test_referring_tables_come_first() -> None:
    references = {"orders": {"lineitem"}, "customer": {"orders"}, "self": {"self"}}
    names = ["customer", "lineitem", "orders", "self"]
    found = ddl.referring_first(names, references)
    assert found.index("lineitem") < found.index("orders") < found.index("customer")
    assert sorted(found) == names
