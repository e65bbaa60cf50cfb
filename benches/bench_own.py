"""Statements of one's own beside the tools that have the same ones built in.

Targets for select-only: at least 0.97 of pgbench's transactions a second, at most 1.1 of its client
CPU. Also measured: pgbench's simple-update, as pgbench sends it (a round trip a statement) and as
Dyno does unless told otherwise, and sysbench's oltp_read_write. Both tools take turns on the same
server and tables; medians of paired ratios. CPU as in `bench_point_select.py`. A transaction of
simple-update waits for storage: its rates vary by some percent from one pair to the next.
`python benches/bench_own.py [SECONDS [ROUNDS]]`, three minutes by default
"""

from __future__ import annotations

import re
import shutil
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from bench_point_select import compare, opened, ours, peer
from common import process, scratch

from dyno import workloads
from dyno.contracts.target import Loaded
from dyno.contracts.transactions import Work
from dyno.targets.postgresql.binaries import find
from dyno.workloads import own

ROWS = 100_000
CONNECTIONS = (1, 8, 32)


def planned(folder: Path, example: str, **changes: str) -> dict[str, Any]:
    """A shipped file without its tables, on those of the peer."""
    text = (own.EXAMPLES / f"{example}.toml").read_text(encoding="utf-8")
    text = re.sub(r"(?ms)^\[tables.*?(?=^\[draws\])", "", text)
    for old, new in {f'"{name}"]': f"{rows}]" for name, rows in ROWS_OF.items()}.items():
        text = text.replace(old, new)
    for old, new in changes.items():
        text = re.sub(old, new, text)
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    driven = workloads.named(str(path)).transactions
    params = driven.params(Work(Loaded(1.0, 1, complete=True), "random", "client"))
    return {"kind": driven.kind, "params": params}


ROWS_OF = {"accounts": ROWS, "branches": 1, "tellers": 10, "sbtest1": ROWS}
PGBENCH = {r"\b(from|update|into) (accounts|history)\b": r"\1 pgbench_\2"}


def postgresql(out: Path, seconds: int, rounds: int) -> None:
    with opened("embedded:postgresql", out) as target:
        wire = target.wire()
        where = ("-h", wire["host"], "-U", wire["user"], wire["database"])
        pgbench = find().folder / "pgbench"
        process(pgbench, "-i", "-q", "-s", "1", *where)
        kinds = {
            "select-only": ("-S", planned(out, "pgbench-select", **PGBENCH)),
            "simple-update, a round trip a statement": (
                "-N",
                planned(out, "pgbench-simple-update", **PGBENCH,
                        **{r"\[transactions.update\]": r"\g<0>\npipeline = false"}),
            ),
            "simple-update": ("-N", planned(out, "pgbench-simple-update", **PGBENCH)),
        }  # fmt: skip
        for title, (flag, work) in kinds.items():
            print(f"\nPostgreSQL, pgbench {flag} -M prepared: {title}")
            for users in CONNECTIONS if flag == "-S" else (8,):
                command = [
                    pgbench, "-n", flag, "-M", "prepared", "-c", str(users), "-j", "1",
                    "-T", str(seconds), *where,
                ]  # fmt: skip
                compare(
                    users, rounds,
                    lambda users=users, work=work: ours(out, wire, work, users, seconds),
                    lambda command=command: peer(
                        out, command, r"tps = ([0-9.]+)", r"actually processed: (\d+)"
                    ),
                    "pgbench", (0.97, 1.1),
                )  # fmt: skip


def mariadb(out: Path, seconds: int, rounds: int) -> None:
    print("\nMariaDB, sysbench oltp_read_write")
    sysbench = shutil.which("sysbench")
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
        process(sysbench, "oltp_read_write", *options, "prepare")
        work = planned(out, "sysbench-read-write")
        command: list[str | Path] = [
            sysbench, "oltp_read_write", *options, "--threads=8", f"--time={seconds}", "run",
        ]  # fmt: skip
        compare(
            8, rounds,
            lambda: ours(out, wire, work, 8, seconds),
            lambda: peer(
                out, command, r"transactions: +\d+ +\(([0-9.]+) per", r"transactions: +(\d+)"
            ),
            "sysbench", (0.97, 1.1),
        )  # fmt: skip


def main() -> None:
    seconds, rounds = (int(word) for word in (sys.argv[1:] + ["3", "5"][len(sys.argv) - 1 :]))
    with scratch() as folder:
        postgresql(Path(folder), seconds, rounds)
        mariadb(Path(folder), seconds, rounds)


if __name__ == "__main__":
    main()
