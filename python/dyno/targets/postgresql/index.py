"""Keys, indexes and statistics after a load, in parallel sessions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from psycopg import sql

from dyno.contracts.target import Progress
from dyno.contracts.workload import Index
from dyno.targets import indexer
from dyno.targets.postgresql import ddl
from dyno.targets.postgresql.connection import PostgresConnection

Step = indexer.Step[sql.Composed]
Stage = indexer.Stage[sql.Composed]
Indexer = indexer.Indexer[PostgresConnection, sql.Composed]
StepLog = indexer.StepLog[PostgresConnection, sql.Composed]


def build_steps(
    place: str,
    tables: Sequence[dict[str, Any]],
    indexes: Sequence[Index],
    sizes: dict[str, int],
    present: set[str],
    keyed: set[str] | None = None,
) -> list[Step]:
    """Missing primary keys and secondary indexes, largest table first.

    A key is built as a unique index, so that other indexes of its table can be built in parallel.
    It
    becomes the primary key when all are complete. Interrupted work may have left only the index:
    ``keyed`` are those in ``present`` that are already keys (all, if None).
    """
    steps: list[Step] = []
    for table in tables:
        name = f"{table['name']}_pkey"
        final = sql.SQL("ALTER TABLE {} ADD PRIMARY KEY USING INDEX {}").format(
            sql.Identifier(place, table["name"]), sql.Identifier(name)
        )
        label = f"primary key {table['name']}"
        own = ("primary key", table["name"], name)
        if keyed is not None and name in present - keyed:
            steps.append(Step(label, final, 0, None, *own))
        elif table["primary_key"] and name not in present:
            statement = create_index(place, name, table["name"], table["primary_key"], "UNIQUE ")
            steps.append(Step(label, statement, sizes.get(table["name"], 0), final, *own))
    for index in indexes:
        if index.name not in present:
            statement = create_index(place, index.name, index.table, index.columns, "")
            size, label = sizes.get(index.table, 0), f"index {index.name}"
            steps.append(Step(label, statement, size, None, "index", index.table, index.name))
    return sorted(steps, key=lambda step: -step.weight)


def vacuum_steps(place: str, tables: Sequence[dict[str, Any]], sizes: dict[str, int]) -> list[Step]:
    """Visibility map, hint bits and statistics of each table, largest first."""
    steps = [
        Step(
            f"vacuum analyse {table['name']}",
            sql.SQL("VACUUM (ANALYZE) {}").format(sql.Identifier(place, table["name"])),
            sizes.get(table["name"], 0),
            kind="analyse",
            table=table["name"],
            relation=table["name"],
        )
        for table in tables
    ]
    return sorted(steps, key=lambda step: -step.weight)


def open_indexer(
    connect: Callable[[], PostgresConnection],
    threads: int,
    stop: threading.Event,
    progress: Progress,
    log: StepLog | None = None,
) -> Indexer:
    """Runs steps in sessions that share the CPUs (see ``dyno.targets.indexer``)."""
    workers = max(1, threads // indexer.sessions_for(threads))

    def worker() -> PostgresConnection:
        session = connect()
        try:
            session.execute(f"SET max_parallel_maintenance_workers = {workers}")
        except BaseException:
            session.close()
            raise
        return session

    def execute(session: PostgresConnection, _: Step, statement: sql.Composed) -> None:
        ddl.run(session, [statement])

    return Indexer(worker, execute, threads, stop, progress, log)


def create_index(
    place: str, name: str, table: str, columns: Sequence[str], unique: str
) -> sql.Composed:
    """``CREATE INDEX``; ``unique`` is empty or not."""
    head = "CREATE UNIQUE INDEX {} ON {} ({})" if unique else "CREATE INDEX {} ON {} ({})"
    return sql.SQL(head).format(
        sql.Identifier(name),
        sql.Identifier(place, table),
        sql.SQL(", ").join(map(sql.Identifier, columns)),
    )
