"""Statements of one's own beside the tools that have the same ones built in.

Targets for select-only: at least 0.97 of pgbench's transactions a second, at most 1.1 of its client
CPU. Also measured: pgbench's simple-update, as pgbench sends it (a round trip a statement) and as
Dyno does unless told otherwise, sysbench's oltp_read_write, and YCSB A to F beside go-ycsb
(`GO_YCSB=/path/to/go-ycsb`, or on the path). Both tools take turns on the same server; medians of
paired ratios. They share the tables, except for YCSB: go-ycsb's keys are texts, and its table has
the same records. CPU as in `bench_point_select.py`. A transaction of simple-update waits for
storage: its rates vary by some percent from one pair to the next.
`python benches/bench_own.py [SECONDS [ROUNDS [PART…]]]`, four minutes by default; the parts are
postgresql, ycsb and mariadb
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from bench_point_select import Seen, compare, opened, ours, peer
from common import dyno, process, scratch

from dyno import workloads
from dyno.contracts.target import Loaded
from dyno.contracts.transactions import Transactions, Work
from dyno.targets.postgresql.binaries import find
from dyno.workloads import own

ROWS = 100_000
CONNECTIONS = (1, 8, 32)
USERS = 8
"""Where there is one number of connections."""
GO_YCSB = os.environ.get("GO_YCSB") or shutil.which("go-ycsb")
MIXES: Mapping[str, Mapping[str, float]] = {
    "a": {"read": 0.5, "update": 0.5},
    "b": {"read": 0.95, "update": 0.05},
    "c": {"read": 1},
    "d": {"read": 0.95, "insert": 0.05},
    "e": {"scan": 0.95, "insert": 0.05},
    "f": {"read": 0.5, "readmodifywrite": 0.5},
}
"""Shares of operations, as the workloads of YCSB are defined."""
OPERATIONS = ("read", "update", "insert", "scan", "readmodifywrite")


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


def ycsb(out: Path, seconds: int, rounds: int) -> None:
    print(f"\nPostgreSQL, go-ycsb: YCSB A to F, {ROWS:,} records")
    if GO_YCSB is None:
        print("  not measured: go-ycsb is not installed")
        return
    dyno(
        "load", "ycsb-a", "--target", "embedded:postgresql", "--scale", str(ROWS // 1000),
        "--out", out,
    )  # fmt: skip
    home = workloads.named("ycsb-a").name
    with opened("embedded:postgresql", out) as target:
        wire = target.wire(home)
        fields = ", ".join(f"field{number}" for number in range(10))
        with closing(target.connect(home)) as session:
            texts = fields.replace(",", " varchar(100),")
            session.execute(
                f"CREATE TABLE public.usertable (ycsb_key varchar(64) PRIMARY KEY, {texts} "
                "varchar(100))"
            )
            session.execute(
                f"INSERT INTO public.usertable SELECT 'user' || ycsb_key - 1, {fields} "
                "FROM usertable"
            )
            session.execute("VACUUM ANALYZE public.usertable")
        for letter in MIXES:
            driven = workloads.named(f"ycsb-{letter}").transactions

            def mine(driven: Transactions = driven) -> Seen:
                loaded = Loaded(ROWS / 1000, 1, complete=True)
                params = driven.params(
                    Work(loaded, "random", "client", lambda: target.connect(home))
                )
                return ours(out, wire, {"kind": driven.kind, "params": params}, USERS, seconds)

            def theirs(letter: str = letter) -> Seen:
                with closing(target.connect()) as session:
                    (records,) = session.execute("SELECT count(*) FROM public.usertable").rows[0]
                return go_ycsb(out, wire, letter, int(records), seconds)

            print(f"  {letter.upper()}")
            compare(USERS, rounds, mine, theirs, "go-ycsb", (0.97, 1.1))


def go_ycsb(out: Path, wire: dict[str, Any], letter: str, records: int, seconds: int) -> Seen:
    """Its rate and CPU for as long; it ends when it is interrupted.

    A new key follows the last record. The number of operations bounds the keys that E draws.
    """
    shares = {f"{one}proportion": MIXES[letter].get(one, 0) for one in OPERATIONS}
    options = {
        **shares, "threadcount": USERS, "recordcount": records, "insertorder": "ordered",
        "operationcount": 200_000 if letter == "e" else 20_000_000,
        "requestdistribution": "latest" if letter == "d" else "zipfian", "maxscanlength": 100,
        "pg.host": "", "pg.user": wire["user"], "pg.db": wire["database"],
        "pg.port": wire.get("port", 5432), "debug.pprof": "127.0.0.1:0",
    }  # fmt: skip
    report = out / "ycsb.txt"
    with report.open("w") as file:
        cost = process(
            # Its scans have no ORDER BY, and PostgreSQL would read the table from its begin.
            "env", f"PGHOST={wire['host']}", "PGOPTIONS=-c enable_seqscan=off",
            # In the foreground: else its group gets the signal too, and the second one ends it.
            "timeout", "--foreground", "--preserve-status", "-s", "INT", str(seconds),
            str(GO_YCSB), "run", "pg",
            *(word for name, value in options.items() for word in ("-p", f"{name}={value}")),
            stdout=file,
        )  # fmt: skip
    text = report.read_text().rpartition("Run finished")[2]
    found = {
        name: (float(takes), int(count))
        for name, takes, count in re.findall(r"(\w+) +- Takes\(s\): ([\d.]+), Count: (\d+)", text)
    }
    # A change after a read is one transaction with that read.
    counted = ("READ",) if letter == "f" else ("READ", "UPDATE", "INSERT", "SCAN")
    done = sum(found[name][1] for name in counted if name in found)
    # The interrupt fails what runs at that moment.
    failed = sum(count for name, (_, count) in found.items() if name.endswith("_ERROR"))
    if not done or failed > 2 * USERS:
        raise SystemExit(f"go-ycsb reported: {report.read_text()[-800:]}")
    return Seen(done / max(takes for takes, _ in found.values()), cost.cpu_s / done * 1e6)


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
    seconds, rounds, *parts = sys.argv[1:] + ["3", "5"][len(sys.argv) - 1 :]
    for part in (postgresql, ycsb, mariadb):
        if part.__name__ in parts or not parts:
            with scratch() as folder:
                part(Path(folder), int(seconds), int(rounds))


if __name__ == "__main__":
    main()
