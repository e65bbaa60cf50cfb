"""What the transaction driver costs on the client's side with SQL Server's protocol.

Targets: at most 150 ms of client CPU per 1,000 TPC-C-derived transactions in client mode, and 40 ms
in procedure mode; point selects at least 0.95 of a bare loop that sends the same requests
(``crates/dyno-drive/examples/bare_tds.rs``), one connection each, in alternating order; medians of
the paired ratios. ``DYNO_TEST_MSSQL_URL`` names the server, whose databases ``dyno_tpcc`` and
``dyno_bench`` are replaced. `python benches/bench_mssql.py [SECONDS [ROUNDS]]`
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from common import dyno, estimate, scratch

from dyno import _core, host, targets
from dyno.bundle.model import Clock
from dyno.errors import DynoError

KEYS = 100_000
SQL = "select v from points where k = @p1"
BARE = Path(__file__).parent.parent / "target" / "release" / "examples" / "bare_tds"


def transactions(url: str, out: Path, seconds: int) -> None:
    dyno("load", "tpcc", "--target", url, "--scale", "2", "--replace", "--out", out)
    for mode, wanted in (("client", 150), ("procedure", 40)):
        for users in ("1", "4", "16"):
            document = dyno(
                "run", "tpcc", "--target", url, "--users", users, "--duration", f"{seconds}s",
                "--mode", mode, "--out", out,
            )  # fmt: skip
            (level,) = document["tpcc"]["levels"]
            cpu_ms = estimate(document, ".client_cpu_ms_per_1000")
            print(
                f"  {mode:>9}, {users:>2} users {level['tps']:7.0f} tps   {cpu_ms:6.1f} ms of "
                f"client CPU per 1,000 (target {wanted})",
                flush=True,
            )


def selects(wire: dict[str, Any], out: Path, seconds: int) -> float:
    """Dyno's point selects a second."""
    sql = SQL.replace("@p1", "$1")
    point = {"sql": sql, "keys": KEYS, "holds": "key"}
    plan = {
        "wire": wire, "workload": {"kind": "point_select", "params": point}, "seed": 1,
        "users": 1, "loop": {"kind": "closed"}, "warmup_s": 0, "duration_s": seconds,
        "threads": 1, "clock": Clock.now().model_dump(), "spool": str(out / "ops.jsonl"),
    }  # fmt: skip
    outcome = json.loads(_core.drive(json.dumps(plan), _core.Control()))
    assert not outcome["errors_first"], outcome["errors_first"]
    return float(outcome["tps"])


def bare(wire: dict[str, Any], seconds: int) -> float:
    """The bare loop's selects a second."""
    command = [
        BARE, f"{wire['host']}:{wire['port']}", wire["user"], wire["password"], wire["database"],
        SQL, str(KEYS), str(seconds),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    count, elapsed = map(float, done.stdout.split())
    return count / elapsed


def points(url: str, out: Path, seconds: int, rounds: int) -> None:
    with targets.open_target(targets.parse(url), out, host.limits(host.collect(out))) as target:
        wire = {**target.wire(), "database": "dyno_bench"}
        with closing(target.connect()) as session:
            with suppress(DynoError):
                session.execute("DROP DATABASE dyno_bench")
            session.execute("CREATE DATABASE dyno_bench")
            session.execute("USE dyno_bench")
            session.execute("CREATE TABLE points (k INT PRIMARY KEY, v INT NOT NULL)")
            for first in range(1, KEYS + 1, 1000):
                rows = ", ".join(f"({key}, {key})" for key in range(first, first + 1000))
                session.execute(f"INSERT INTO points VALUES {rows}")
        pairs = [
            (selects(wire, out, seconds), bare(wire, seconds))
            if turn % 2 == 0
            else (bare(wire, seconds), selects(wire, out, seconds))[::-1]
            for turn in range(rounds)
        ]
        with closing(target.connect()) as session:
            session.execute("DROP DATABASE dyno_bench")
    mine, loop = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
    ratio = statistics.median(a / b for a, b in pairs)
    print(f"  Dyno {mine:6.0f}/s, bare loop {loop:6.0f}/s; ratio {ratio:.3f} (target 0.95)")


def main() -> None:
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 6
    url = os.environ["DYNO_TEST_MSSQL_URL"]
    subprocess.run(
        ["cargo", "build", "--quiet", "--release", "-p", "dyno-drive", "--example", "bare_tds"],
        check=True,
    )
    with scratch() as folder:
        out = Path(folder)
        print("Point selects, one connection")
        points(url, out, seconds, rounds)
        print("\nTPC-C-derived, 2 warehouses")
        transactions(url, out, seconds)


main()
