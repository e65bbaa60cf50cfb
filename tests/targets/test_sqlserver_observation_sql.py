"""Golden T-SQL of observation and maintenance, which no test server can run.

To write the file again: ``python -m tests.targets.test_sqlserver_observation_sql``.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlglot

from tests.scriptdom import mistakes, require_scriptdom
from tests.targets.sqlserver_recorded import document
from tests.targets.sqlserver_statements import every

GOLDEN = Path(__file__).parent / "golden" / "sqlserver" / "observation.sql"
COLUMNS = {
    "performance counters": "performance_counters",
    "files": "virtual_file_stats",
    "waits": "wait_stats",
    "commits": "wait_stats",
    "requests": "requests",
    "tasks": "waiting_tasks",
    "memory clerks": "memory_clerks",
    "tempdb": "tempdb_space",
    "started": "sys_info",
    "statements": "query_stats",
    "texts of statements": "sql_text",
    "databases of statements": "plan_attributes",
    "plans of statements": "query_plan",
    "relations": "index_operational_stats",
    "uses of relations": "index_usage_stats",
    "names of relations": "index_names",
    "histogram": "stats_histogram",
    "master files": "master_files",
    "volumes": "volume_stats",
    "indexes": "alter_indexes",
    "new database: files": "database_files",
}
"""The recorded rows of a statement."""
UNKNOWN_TO_SQLGLOT = (
    "DBCC", "RESTORE", "BACKUP", "ALTER", "UPDATE STATISTICS", "SET", "EXECUTE", "IF EXISTS"
)  # fmt: skip
"""Beginnings of statements that its grammar does not know; Microsoft's own does."""


def text() -> str:
    return "\n".join(f"-- {name}\n{sql};\n" for name, sql in every().items())


def test_statements_are_the_golden_ones() -> None:
    assert GOLDEN.read_text("utf-8") == text()


@pytest.mark.parametrize("name", [*every()])
def test_a_statement_parses(name: str) -> None:
    sql = every()[name]
    if not sql.startswith(UNKNOWN_TO_SQLGLOT):
        (tree,) = sqlglot.parse(sql, read="tsql")
        assert tree is not None
        assert tree.key in {"select", "create", "drop"}


def test_statements_are_microsofts_t_sql() -> None:
    require_scriptdom()
    found = dict(zip(every(), mistakes(list(every().values())), strict=True))
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(("name", "recorded"), COLUMNS.items())
def test_recorded_rows_have_the_columns_of_the_statement(name: str, recorded: str) -> None:
    tree = sqlglot.parse_one(every()[name], read="tsql")
    assert len(tree.selects) == len(document(recorded)["columns"])


if __name__ == "__main__":
    GOLDEN.write_text(text(), "utf-8")
