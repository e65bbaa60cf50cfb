"""Order entry as a whole: how fast 10 warehouses are there, and what 8 users get out of them.

Targets: PostgreSQL loaded and indexed in 15 s, MariaDB in 30 s; client mode ≤ 70 ms of client CPU
per 1,000 transactions (MariaDB: ≤ 100) and procedure mode ≤ 25 ms; new orders a minute in client
mode ≥ 1.3 times what 8 connections of a peer reach on the same server, tables and settings. The
peer is go-tpc (`GO_TPC=/path/to/go-tpc`, or on the path): it drives the very tables that Dyno
loaded, over the same unix socket, in turn with Dyno. It never touches remote stock, so it has it
easier.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from common import dyno, estimate, scratch

from dyno import host, targets

WAREHOUSES, USERS, SECONDS, WARMUP, ROUNDS = "10", 8, 20, 5, 3
PEER = os.environ.get("GO_TPC") or shutil.which("go-tpc")
LOAD_TARGET = {"postgresql": 15, "mysql": 30}
MODES = {"client": 70, "procedure": 25}
"""Targets on PostgreSQL, ms of client CPU per 1,000 transactions."""
MARIADB_CLIENT = 100
"""The target of client mode on MariaDB, which answers each command by itself."""


@dataclass(frozen=True)
class Rate:
    """Main operations a minute, and milliseconds of client CPU per 1,000 transactions."""

    per_min: float
    cpu_ms: float


def load(name: str, out: Path) -> None:
    start = time.monotonic()
    document = loaded("tpcc", name, WAREHOUSES, out)
    whole = time.monotonic() - start
    rows, index = (estimate(document, f"{what}.tpcc.{name}.seconds") for what in ("load", "index"))
    print(
        f"{name:12}{WAREHOUSES} warehouses: rows {rows:5.1f} s, keys, indexes and "
        f"statistics {index:5.1f} s (target {LOAD_TARGET[name]} for both); with start, "
        f"proof and end {whole:5.1f} s",
        flush=True,
    )


def loaded(workload: str, name: str, scale: str, out: Path) -> dict[str, Any]:
    """Loads a workload into a private server; returns the document of the load."""
    return dyno(
        "load", workload, "--target", f"embedded:{name}", "--scale", scale, "--streams", "2",
        "--out", out,
    )  # fmt: skip


def ours(
    name: str, mode: str, out: Path, workload: str = "tpcc", main: str = "new_orders",
    seconds: int = SECONDS, warmup: int = WARMUP,
) -> Rate:  # fmt: skip
    document = dyno(
        "run", workload, "--target", f"embedded:{name}", "--users", str(USERS), "--mode", mode,
        "--warmup", f"{warmup}s", "--duration", f"{seconds}s", "--out", out,
    )  # fmt: skip
    (level,) = document["workloads"][workload]["levels"]
    return Rate(level[f"{main}_per_min"], estimate(document, ".client_cpu_ms_per_1000"))


def peers(out: Path) -> Rate:
    """go-tpc for as long; its own totals, and the CPU of its process."""
    url = targets.parse("embedded:postgresql")
    with targets.open_target(url, out, host.limits(host.collect(out))) as server:
        wire = server.wire("tpcc")
        # Its driver sorts parameters and takes the last: a host that sorts before a path loses.
        parameters = f"host={wire['host']}&sslmode=disable&search_path={wire['schema']}"
        command = [
            str(PEER), "tpcc", "run", "-d", "postgres", "-U", wire["user"], "-D", wire["database"],
            "-H", "!", "-P", str(wire.get("port", 5432)), "--conn-params", parameters,
            "--warehouses", WAREHOUSES, "-T", str(USERS), "--time", f"{WARMUP + SECONDS}s",
            "--silence", "--ignore-error",
        ]  # fmt: skip
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert child.stdout is not None
        text = child.stdout.read()
        _, _, usage = os.wait4(child.pid, 0)
    count = {
        kind: int(found)
        for kind, found in re.findall(r"\[Summary\] (\w+) .*?Count: (\d+)", text)
        if not kind.endswith("_ERR")
    }
    takes = re.search(r"\[Summary\] NEW_ORDER +- Takes\(s\): ([\d.]+)", text)
    if not count.get("NEW_ORDER") or takes is None:
        raise SystemExit(f"go-tpc reported nothing: {text[:800]}")
    cpu_s = usage.ru_utime + usage.ru_stime
    return Rate(count["NEW_ORDER"] * 60 / float(takes.group(1)), cpu_s / sum(count.values()) * 1e6)


def shown(rates: list[Rate], main: str = "new orders") -> str:
    per_min = statistics.median(rate.per_min for rate in rates)
    cpu = statistics.median(rate.cpu_ms for rate in rates)
    return f"{per_min:9,.0f} {main}/min   {cpu:6.1f} ms of client CPU per 1,000"


def main() -> None:
    print(f"{psutil.cpu_count()} CPUs; medians of {ROUNDS} rounds of {SECONDS} s, {USERS} users\n")
    with scratch() as folder:
        out = Path(folder)
        load("postgresql", out)
        seen: dict[str, list[Rate]] = {mode: [] for mode in MODES} | {"go-tpc": []}
        for _ in range(ROUNDS):
            for mode in MODES:
                seen[mode].append(ours("postgresql", mode, out))
            if PEER:
                seen["go-tpc"].append(peers(out))
        for mode, most in MODES.items():
            print(f"  Dyno, {mode:10}{shown(seen[mode])} (target {most})")
        if PEER:
            pairs = zip(seen["client"], seen["go-tpc"], strict=True)
            ratio = statistics.median(a.per_min / b.per_min for a, b in pairs)
            print(f"  go-tpc          {shown(seen['go-tpc'])}")
            print(f"  client mode / go-tpc, round by round: {ratio:.2f} x (target 1.3 x)")
        else:
            print("  no peer: go-tpc is not on the path")
    if targets.lacks("mysql"):
        return
    with scratch() as folder:
        out = Path(folder)
        load("mysql", out)
        found: dict[str, list[Rate]] = {mode: [] for mode in MODES}
        for _ in range(ROUNDS):
            for mode in MODES:
                found[mode].append(ours("mysql", mode, out))
        for mode in MODES:
            target = f" (target {MARIADB_CLIENT})" if mode == "client" else ""
            print(f"  Dyno, {mode:10}{shown(found[mode])}{target}")


if __name__ == "__main__":
    main()
