"""SF 1 from nothing into PostgreSQL and DuckDB, against files and the engine's own importer.

Targets: PostgreSQL ≤ 10 s with 2 streams before indexes; DuckDB ≤ 6 s; 5 warehouses with primary
keys ≤ 10 s. The peers write files with `tpchgen-cli` first, as their users do.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

import duckdb
from alone import alone, remark
from common import BIN, dyno, pairs, scratch

from dyno import host, targets
from dyno.targets.postgresql.binaries import find

ROUNDS = 3
TABLES = ["region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem"]


def ours(engine: str, out: Path) -> float:
    document = dyno(
        "load", "tpch", "--target", f"embedded:{engine}", "--scale", "1", "--streams", "2",
        "--replace", "--out", out,
    )  # fmt: skip
    return document["tpch"]["engines"][engine]["load_s"]


def copied(out: Path) -> float:
    """CSV files, then one `\\copy` after another into empty tables of the same server."""
    url = targets.parse("embedded:postgresql")
    with targets.open_target(url, out, host.limits(host.collect(out))) as target:
        target.create_tables("tpch", replace=True)
        wire = target.wire()
        start = time.monotonic()
        files = generated(out / "files", "csv")
        for table in TABLES:
            path = files / f"{table}.csv"
            command = f"\\copy dyno_tpch.{table} from '{path}' csv header"
            subprocess.run(
                [
                    find().folder / "psql", "-q", "-v", "ON_ERROR_STOP=1", "-h", wire["host"],
                    "-U", wire["user"], "-d", wire["database"], "-c", command,
                ],
                check=True,
                env={**os.environ, "PGOPTIONS": "-c datestyle=iso"},
            )  # fmt: skip
        return time.monotonic() - start


def imported(out: Path) -> float:
    """Parquet files, then `create table as` for each."""
    database = out / "peer.duckdb"
    database.unlink(missing_ok=True)
    start = time.monotonic()
    files = generated(out / "files", "parquet")
    with duckdb.connect(database) as connection:
        for table in TABLES:
            connection.execute(f"create table {table} as from '{files / table}.parquet'")
        connection.execute("checkpoint")
    return time.monotonic() - start


def generated(folder: Path, file_format: str) -> Path:
    folder.mkdir(exist_ok=True)
    subprocess.run(
        [BIN / "tpchgen-cli", file_format, "-s", "1", "--output-dir", folder, "-q"],
        check=True, capture_output=True,
    )  # fmt: skip
    return folder


def primary_keys_s(bundle: Path) -> float:
    """Seconds that the primary keys took, summed over sessions: never too short."""
    phases = json.loads((bundle / "run.json").read_text())["phases"]
    steps = next(phase["detail"]["steps"] for phase in phases if phase["kind"] == "index")
    return sum(value for name, value in steps.items() if name.startswith("primary key"))


def compare(title: str, target_s: float, a: Any, b: Any) -> float:
    """Prints one line; returns the peer's seconds."""
    mine, peer, ratio = pairs(ROUNDS, a, b)
    print(f"{title:34}{mine:6.1f} s  (target {target_s:g} s)   peer {peer:5.1f} s   {ratio:.2f} x")
    return peer


def main() -> None:
    print(f"median of {ROUNDS}; ratio = peer / Dyno, pair by pair\n")
    with scratch() as folder:
        out = Path(folder)
        compare(
            "SF 1 to PostgreSQL, 2 streams",
            10,
            lambda: ours("postgresql", out),
            lambda: copied(out),
        )
        peer = compare("SF 1 to DuckDB", 6, lambda: ours("duckdb", out), lambda: imported(out))
        print(remark(alone("duckdb", out, ROUNDS), peer))
        seconds: list[float] = []
        for _ in range(ROUNDS):
            start = time.monotonic()
            document = dyno(
                "load", "tpcc", "--target", "embedded:postgresql", "--scale", "5", "--replace",
                "--out", out,
            )  # fmt: skip
            keys = primary_keys_s(Path(document["bundle"]))
            seconds.append(document["tpcc"]["load_s"] + keys)
            whole = time.monotonic() - start
        print(
            f"{'5 warehouses with primary keys':34}{statistics.median(seconds):6.1f} s  "
            f"(target 10 s)   the whole verb, with start, secondary indexes, vacuum, checks: "
            f"{whole:.1f} s"
        )


main()
