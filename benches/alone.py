"""What an engine needs by itself for the rows of a load: the floor of every way to load it."""

from __future__ import annotations

import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa

from dyno import _core, host, targets
from dyno.contracts import schema
from dyno.contracts.target import Target
from dyno.targets.clickhouse.load import insert

SMALL = 100_000
"""Tables with fewer rows go in by one session."""


def duckdb(target: Any, table: str, rows: pa.Table) -> int:
    """Inserts rows as Dyno's load does; returns how many."""
    with closing(target.connect("tpch")) as session:
        return target.insert(session, "tpch", {table: rows})


def clickhouse(target: Any, table: str, rows: pa.Table) -> int:
    """Inserts rows as Dyno's load does; returns how many."""
    return insert(lambda pipe: target._session(rows=pipe), "tpch", table, rows)


ENGINES = {"duckdb": (duckdb, 1), "clickhouse": (clickhouse, 2)}
"""How rows go in, and in how many inserts at once: as many as Dyno's own load has."""


def alone(engine: str, out: Path, rounds: int) -> float:
    """Median seconds for scale 1 of TPC-H that lies in memory."""
    tables = {name: _rows(name) for name in schema.table_names("tpch")}
    limits = host.limits(host.collect(out))
    seconds: list[float] = []
    with targets.open_target(targets.parse(f"embedded:{engine}"), out, limits) as target:
        for _ in range(rounds):
            target.create_tables("tpch", replace=True)
            start = time.monotonic()
            for name, rows in tables.items():
                _insert(engine, target, name, rows)
            seconds.append(time.monotonic() - start)
    return statistics.median(seconds)


def remark(alone_s: float, peer_s: float) -> str:
    """The floor in words, beside the ratio that a generator without any cost would reach."""
    return (
        f"{'  engine alone, rows in memory':34}{alone_s:6.1f} s   "
        f"at most {peer_s / alone_s:.2f} x if generating took no time"
    )


def _rows(name: str) -> pa.Table:
    stream = _core.arrow_stream("tpch", name, 1.0, 1, 2, _core.Control())
    return pa.RecordBatchReader.from_stream(stream).read_all()


def _insert(engine: str, target: Target, name: str, rows: pa.Table) -> None:
    put, sessions = ENGINES[engine]
    count = sessions if rows.num_rows >= SMALL else 1
    batches = rows.to_batches()
    share = -(-len(batches) // count)
    pieces = [batches[at : at + share] for at in range(0, len(batches), share)]

    with ThreadPoolExecutor(count) as pool:
        done = pool.map(lambda piece: put(target, name, pa.Table.from_batches(piece)), pieces)
        if sum(done) != rows.num_rows:
            raise SystemExit(f"{name}: rows are missing")
