"""Secondary indexes and statistics after a load, several tables at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from dyno.contracts.target import Progress
from dyno.contracts.workload import Index
from dyno.errors import DynoError
from dyno.targets import indexer
from dyno.targets.mysql.connection import MysqlConnection, quoted
from dyno.targets.mysql.version import Version

Step = indexer.Step[str]
Stage = indexer.Stage[str]
Indexer = indexer.Indexer[MysqlConnection, str]
StepLog = indexer.StepLog[MysqlConnection, str]


def build_steps(place: str, indexes: Sequence[Index], present: set[tuple[str, str]]) -> list[Step]:
    """The missing indexes, one statement per table.

    InnoDB builds all indexes of a statement in one scan, and statements on the same table wait for
    each
    other.
    """
    missing: dict[str, list[Index]] = {}
    for index in indexes:
        if (index.table, index.name) not in present:
            missing.setdefault(index.table, []).append(index)
    steps: list[Step] = []
    for table, wanted in missing.items():
        added = ", ".join(
            f"ADD INDEX {quoted(index.name)} ({', '.join(map(quoted, index.columns))})"
            for index in wanted
        )
        name = f"index {', '.join(index.name for index in wanted)}"
        statement = f"ALTER TABLE {quoted(place)}.{quoted(table)} {added}"
        steps.append(Step(name, statement, kind="index", table=table))
    return steps


def analyze_steps(place: str, tables: Sequence[dict[str, Any]], version: Version) -> list[Step]:
    """Statistics of each table.

    MariaDB has additional statistics for columns without an index, and histograms. For free text,
    which is nearly unique, they are useless. Of an empty table they would say so until the next
    ANALYZE, however many rows it has by then, and plans would scan it.
    """
    steps: list[Step] = []
    for table in tables:
        name = f"{quoted(place)}.{quoted(table['name'])}"
        statement = f"ANALYZE TABLE {name}"
        if version.is_mariadb:
            columns = [quoted(item["name"]) for item in table["columns"] if not item["prose"]]
            statement += f" PERSISTENT FOR COLUMNS ({', '.join(columns)}) INDEXES ALL"
            filled = f"EXISTS (SELECT 1 FROM {name})"  # noqa: S608 (quoted)
            statement = f"IF {filled} THEN {statement}; END IF"
        steps.append(
            Step(f"analyse {table['name']}", statement, kind="analyse", table=table["name"])
        )
    return steps


def open_indexer(
    connect: Callable[[], MysqlConnection],
    threads: int,
    stop: threading.Event,
    progress: Progress,
    log: StepLog | None = None,
) -> Indexer:
    """Runs steps in parallel (see :class:`dyno.targets.indexer.Indexer`)."""
    return Indexer(connect, execute, threads, stop, progress, log)


def execute(session: MysqlConnection, step: Step, statement: str) -> None:
    """Runs one step.

    Raises:
        DynoError: If the server rejects it.
    """
    # ANALYZE returns its errors as rows: table, operation, type, text.
    rows = session.execute(statement).rows
    errors = [row[3] for row in rows if str(row[2]).lower() == "error"]
    if errors:
        raise DynoError(f"{step.name} failed: {errors[0]}", kind="database")
