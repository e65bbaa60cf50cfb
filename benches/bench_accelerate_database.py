"""A private PostgreSQL on a slow disk, without and with a cache on flash: TPC-H and TPC-C.

The disk is a loop device that takes at most so many requests and bytes a second, as a few hard
disks do; flash is a folder on this disk. The engine's memory is limited, so it must read. With the
cache, each workload runs once to fill it, and again to be measured. Effects sought (published ones
of a cache on flash for SQL Server): the longest queries in less than a third of the time, nine
times as many new orders. Needs root and version 1 of the control group blkio.
`python benches/bench_accelerate_database.py [FOLDER [WORKLOAD]]`, 20 minutes
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

from bench_accelerate import MB, forget, loop, say, throttled
from common import dyno

DISK = {"read_iops": 1000, "write_iops": 1000, "read_bps": 150 * MB, "write_bps": 150 * MB}
TARGET = "embedded:postgresql"
QUERIES = ("tpch", "--cold", "--limit", "memory=200M")
USERS = (10, 20, 50)
ORDERS = ("tpcc", *(f"--users={users}" for users in USERS), "--warmup", "20s", "--duration", "20s",
          "--limit", "memory=600M")  # fmt: skip
SECONDS = r".*\.(q\d+)\.seconds"
PER_MINUTE = r".*\.(users-\d+)\.new_orders_per_min"


@contextlib.contextmanager
def cached(folder: Path, flash: Path) -> Generator[None]:
    dyno("accelerate", "apply", folder, "--flash", flash, "--size", "4G", "--work", "dss", "--yes")
    try:
        yield
    finally:
        dyno("accelerate", "detach", folder)


def run(folder: Path, what: tuple[str, ...]) -> list[dict[str, Any]]:
    """The estimates of a run."""
    forget()
    found = dyno("run", *what, "--target", TARGET, "--out", folder, "--no-criteria")
    text = (Path(found["bundle"]) / "estimates.json").read_text(encoding="utf-8")
    return json.loads(text)


def values(estimates: list[dict[str, Any]], pattern: str) -> dict[str, float]:
    """The values of all estimates with such a name, by its first group."""
    found = ((re.fullmatch(pattern, one["name"]), one["value"]) for one in estimates)
    return {match[1]: value for match, value in found if match}


def queries(folder: Path, flash: Path) -> None:
    slow = values(run(folder, QUERIES), SECONDS)
    with cached(folder, flash):
        run(folder, QUERIES)
        fast = values(run(folder, QUERIES), SECONDS)
        status(folder)
    print(f"{'query':10}{'without s':>12}{'with s':>12}{'times':>8}")
    for name in sorted(slow, key=lambda name: -slow[name]):
        print(f"{name:10}{slow[name]:12.2f}{fast[name]:12.2f}{slow[name] / fast[name]:8.2f}")
    longest = sorted(slow, key=lambda name: -slow[name])[:5]
    share = max(fast[name] / slow[name] for name in longest)
    say("longest five queries, share of the time", f"at most {share:.2f}", "≤ 0.33")


def orders(folder: Path, flash: Path) -> None:
    slow = values(run(folder, ORDERS), PER_MINUTE)
    with cached(folder, flash):
        run(folder, ORDERS)
        fast = values(run(folder, ORDERS), PER_MINUTE)
        status(folder)
    for name, value in slow.items():
        gain = f"{value:,.0f} to {fast[name]:,.0f}, {fast[name] / value:.1f} times"
        say(f"new orders a minute, {name}", gain, "≥ 9 times")


def status(folder: Path) -> None:
    told = dyno("accelerate", "status", folder)["caches"][0]["status"]
    for kind in told["kinds"]:
        if reads := kind["hits"] + kind["misses"]:
            print(f"   {kind['kind']}: {kind['hits'] / reads:.3f} of {reads:,} blocks from flash")


def main() -> None:
    above, wanted = [*sys.argv[1:], *("/var/tmp", "")[len(sys.argv) - 1 :]]
    with tempfile.TemporaryDirectory(dir=above) as name, loop(Path(name)) as (slow, device):
        for workload, scale, measured in (("tpch", "0.2", queries), ("tpcc", "10", orders)):
            if wanted not in ("", workload):
                continue
            folder = slow / workload
            folder.mkdir()
            dyno("load", workload, "--target", TARGET, "--out", folder, "--scale", scale)
            with throttled(device, **DISK):
                print(f"\n{workload}, scale {scale}", flush=True)
                measured(folder, Path(name) / f"flash-{workload}")
            dyno("clean", "--yes", "--runs", "--out", folder)


if __name__ == "__main__":
    main()
