"""One row by its key, over and over: what the driver costs beside `pgbench` and `sysbench`.

Targets, at 1, 8, 32 and 256 connections: at least 0.98 of the peer's statements a second, and no
more client CPU a statement. The peers are `pgbench -S -M prepared` on a private PostgreSQL and
`sysbench oltp_point_select` on a private MariaDB, over the same unix socket. Dyno and pgbench have
one thread; sysbench cannot but take one a connection. Both take turns; medians of paired ratios.
CPU is that of the whole client process, connecting and gathering included; for Dyno what a process
that only starts Python takes is left out. Dyno proves each row; the peers only receive it.
`python benches/bench_point_select.py [SECONDS [ROUNDS]]`, two minutes by default
"""

from __future__ import annotations

import functools
import json
import re
import shutil
import statistics
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import process, scratch

from dyno import host, targets
from dyno.bundle.model import Clock
from dyno.contracts.target import Target
from dyno.targets.postgresql.binaries import find

CONNECTIONS = (1, 8, 32, 256)
ROWS = 100_000
DRIVE = """
import json, sys
from dyno import _core
from dyno.stages.drive.scheduler import yield_to_server
plan = sys.stdin.read()
yield_to_server(json.loads(plan), server=True)
print(_core.drive(plan, _core.Control()))
"""


@dataclass(frozen=True)
class Seen:
    """Statements a second, and microseconds of client CPU a statement."""

    tps: float
    cpu_us: float


def ours(out: Path, wire: dict[str, Any], work: dict[str, Any], users: int, s: int) -> Seen:
    plan, answer = out / "plan.json", out / "outcome.json"
    plan.write_text(
        json.dumps({
            "wire": wire, "workload": work, "seed": 1,
            "users": users, "loop": {"kind": "closed"}, "warmup_s": 0,
            "duration_s": s, "threads": 1, "clock": Clock.now().model_dump(),
            "spool": str(out / "ops.jsonl"),
        })
    )  # fmt: skip
    program = out / "drive.py"
    program.write_text(DRIVE.replace("sys.stdin.read()", f"open({str(plan)!r}).read()"))
    with answer.open("w") as file:
        cost = process(sys.executable, program, stdout=file)
    outcome = json.loads(answer.read_text())
    done = sum(each["done"] for each in outcome["ops"].values())
    assert not outcome["errors_first"], outcome["errors_first"]
    return Seen(outcome["tps"], (cost.cpu_s - start_s()) / done * 1e6)


@functools.cache
def start_s() -> float:
    """CPU of a process that only starts Python and loads what it drives with."""
    imports = "import json; from dyno import _core; from dyno.stages.drive import scheduler"
    return statistics.median(process(sys.executable, "-c", imports).cpu_s for _ in range(5))


def peer(out: Path, command: list[str | Path], rate: str, count: str) -> Seen:
    report = out / "peer.txt"
    with report.open("w") as file:
        cost = process(*command, stdout=file)
    text = report.read_text()
    found = [re.search(pattern, text) for pattern in (rate, count)]
    assert all(found), text
    tps, done = (float(match[1]) for match in found if match)
    return Seen(tps, cost.cpu_s / done * 1e6)


def compare(
    connections: int, rounds: int, a: Callable[[], Seen], b: Callable[[], Seen], name: str,
    wanted: tuple[float, float] = (0.98, 1.0),
) -> None:  # fmt: skip
    # Each goes first as often as the other: the second finds warmer caches.
    pairs = [(a(), b()) if turn % 2 == 0 else (b(), a())[::-1] for turn in range(rounds)]
    tps = statistics.median(mine.tps / theirs.tps for mine, theirs in pairs)
    cpu = statistics.median(mine.cpu_us / theirs.cpu_us for mine, theirs in pairs)
    mine, theirs = (
        Seen(
            statistics.median(pair[side].tps for pair in pairs),
            statistics.median(pair[side].cpu_us for pair in pairs),
        )
        for side in (0, 1)
    )
    print(
        f"  {connections:>3} connections: Dyno {mine.tps:7.0f}/s {mine.cpu_us:5.1f} µs, {name} "
        f"{theirs.tps:7.0f}/s {theirs.cpu_us:5.1f} µs; rate {tps:.3f} (target {wanted[0]}), CPU "
        f"{cpu:.2f} (target {wanted[1]})",
        flush=True,
    )


def postgresql(out: Path, seconds: int, rounds: int) -> None:
    print(f"PostgreSQL, pgbench -S -M prepared, {ROWS:,} rows")
    with opened("embedded:postgresql", out) as target:
        wire = target.wire()
        where = ("-h", wire["host"], "-U", wire["user"], wire["database"])
        pgbench = find().folder / "pgbench"
        process(pgbench, "-i", "-q", "-s", str(ROWS // 100_000), *where)
        sql = "SELECT abalance FROM pgbench_accounts WHERE aid = $1"
        select = {"sql": sql, "keys": ROWS, "holds": {"int": 0}}
        for users in CONNECTIONS:
            command = [
                pgbench, "-n", "-S", "-M", "prepared", "-c", str(users), "-j", "1",
                "-T", str(seconds), *where,
            ]  # fmt: skip
            compare(
                users, rounds,
                lambda users=users: ours(out, wire, selects(select), users, seconds),
                lambda command=command: peer(
                    out, command, r"tps = ([0-9.]+)", r"actually processed: (\d+)"
                ),
                "pgbench",
            )  # fmt: skip


def mariadb(out: Path, seconds: int, rounds: int) -> None:
    from dyno import _core

    print("\nMariaDB, sysbench oltp_point_select")
    sysbench = shutil.which("sysbench")
    if "mysql" not in json.loads(_core.parts())["wires"]:
        print("  not measured: this Dyno drives no transactions over MariaDB's protocol")
        return
    if sysbench is None:
        print("  not measured: sysbench is not installed")
        return
    with opened("embedded:mysql", out) as target:
        with closing(target.connect()) as session:
            session.execute("CREATE DATABASE sbtest")
        wire = {**target.wire(), "database": "sbtest"}
        options = [
            f"--mysql-socket={wire['unix_socket']}", f"--mysql-user={wire['user']}",
            "--mysql-db=sbtest", "--tables=1", f"--table-size={ROWS}", "--rand-type=uniform",
        ]  # fmt: skip
        process(sysbench, "oltp_point_select", *options, "prepare")
        sql = "SELECT c FROM sbtest1 WHERE id=$1"
        select = {"sql": sql, "keys": ROWS, "returns": "text", "holds": {"bytes": 119}}
        for users in CONNECTIONS:
            command: list[str | Path] = [
                sysbench, "oltp_point_select", *options, f"--threads={users}",
                f"--time={seconds}", "run",
            ]  # fmt: skip
            compare(
                users, rounds,
                lambda users=users: ours(out, wire, selects(select), users, seconds),
                lambda command=command: peer(
                    out, command, r"transactions: +\d+ +\(([0-9.]+) per", r"transactions: +(\d+)"
                ),
                "sysbench",
            )  # fmt: skip


def selects(select: dict[str, Any]) -> dict[str, Any]:
    """The workload of one row by its key."""
    return {"kind": "point_select", "params": select}


def opened(url: str, out: Path) -> Target:
    return targets.open_target(targets.parse(url), out, host.limits(host.collect(out)))


def main() -> None:
    seconds, rounds = (int(word) for word in (sys.argv[1:] + ["2", "3"][len(sys.argv) - 1 :]))
    with scratch() as folder:
        postgresql(Path(folder), seconds, rounds)
        mariadb(Path(folder), seconds, rounds)


if __name__ == "__main__":
    main()
