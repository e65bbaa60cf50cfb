"""Isolation scenarios at SQL Server's levels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dyno import workloads
from dyno.errors import UsageError
from dyno.targets.insert import insert_values
from dyno.targets.sqlserver.connection import literal
from dyno.targets.sqlserver.target import SqlServerTarget
from tests.babelfish import alone
from tests.targets.test_sqlserver import target_of
from tests.targets.test_sqlserver_transactions import generated

REPEATED_READS = {"isolation 7", "isolation 8", "isolation 9"}
"""What the standard does not require of read committed."""


@pytest.fixture
def server(out: Path) -> Iterator[SqlServerTarget]:
    with alone() as url, target_of(url, out) as target:
        target.remove()
        yield target
        target.remove()


def test_levels(server: SqlServerTarget) -> None:
    found = server.isolation()
    assert found.default == "read-committed"
    assert found.begin("repeatable-read", True) == (
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        "BEGIN TRANSACTION",
    )
    with closing(server.connect()) as session:
        for number, level in enumerate(found.levels, 1):
            for statement in found.begin(level, False):
                session.execute(statement)
            asked = "SELECT transaction_isolation_level, @@TRANCOUNT FROM sys.dm_exec_sessions "
            rows = session.execute(asked + "WHERE session_id = @@SPID").rows
            # Babelfish has one level for both.
            as_snapshot = session.version.is_babelfish and level == "repeatable-read"
            assert rows == [(5 if as_snapshot else number, 1)]
            session.execute("ROLLBACK")


@pytest.mark.long
@pytest.mark.parametrize(
    ("workload", "level", "failing"),
    [
        ("tpcc", "read-committed", REPEATED_READS),
        ("tpcc", "snapshot", set[str]()),
        ("brokerage", "repeatable-read", set[str]()),
    ],
)
def test_scenarios(server: SqlServerTarget, workload: str, level: str, failing: set[str]) -> None:
    prove = workloads.get(workload).isolation
    assert prove is not None
    rows = generated(workload)
    server.create_tables(workload, replace=False)
    with closing(server.connect(workload)) as session:
        insert_values(session, {name: rows[name].to_reader() for name in rows}, literal)
    checks = prove(server.name, lambda: server.connect(workload), server.isolation(), level)
    assert len(checks) == 9
    assert {check.name for check in checks if not check.passed} == failing


def test_unknown_levels_are_rejected(server: SqlServerTarget) -> None:
    from dyno.contracts.isolation import require

    with pytest.raises(UsageError, match="snapshot"):
        require(server, "chaos")
