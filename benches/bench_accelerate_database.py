"""A private PostgreSQL on a slow disk, without and with flash: queries, then new orders.

The disk is a loop device that takes at most 400 reads a second (1,000 for queries) and 150 MB/s, as
a few hard disks behind a controller with a write cache do; flash is a folder on this disk. Queries
are the study accelerate-dss. New orders are runs of 50, 20 and 10 users, in this order, as the
engine's memory warms, with the log on either device, without a cache and with one that holds all
files at the start. Effects sought (published ones of a cache on flash for SQL Server): the longest
queries in less than a third of the time, nine times as many new orders. Needs root and version 1 of
the control group blkio.
`python benches/bench_accelerate_database.py [FOLDER [dss|oltp [USERS …]]]`, 45 minutes
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_accelerate import MB, forget, loop, throttled
from common import BIN, dyno

BANDWIDTH = {"read_bps": 150 * MB, "write_bps": 150 * MB}
QUERIES = {"read_iops": 1000, "write_iops": 1000, **BANDWIDTH}
ORDERS = {"read_iops": 400, **BANDWIDTH}
TARGET = ("--target", "embedded:postgresql")
WORK = ("--warmup", "50s", "--duration", "20s", "--limit", "memory=600M", "--no-criteria")


def queries(slow: Path, flash: Path) -> None:
    words = [BIN / "dyno", "study", "accelerate-dss", "--out", slow, "--no-early-stop", "--quiet"]
    subprocess.run([*words, "--pairs", "2", "--with", f"run.flash={flash}"], check=False)


def orders(slow: Path, flash: Path, users: list[str], device: str) -> None:
    levels = [word for count in users for word in ("--users", count)]
    arms = {"log on the slow disk": (), "log on flash": ("--flash-log", "--flash", flash)}
    caches = {"no cache": (), "cache": ("--accelerate", "prewarmed", "--flash", flash)}
    for number, load in enumerate(arms.values()):
        (slow / str(number)).mkdir()
        dyno("load", "tpcc", *TARGET, "--scale", "10", "--out", slow / str(number), *load)
    with throttled(device, **ORDERS):
        for number, log in enumerate(arms):
            for cache, options in caches.items():
                forget()
                out = slow / str(number)
                run = dyno("run", "tpcc", *TARGET, "--out", out, *levels, *WORK, *options)
                print(f"{log}, {cache}")
                show(Path(run["bundle"]), users)


def show(bundle: Path, users: list[str]) -> None:
    text = (bundle / "estimates.json").read_text(encoding="utf-8")
    known = {one["name"]: one["value"] for one in json.loads(text)}
    for count in users:
        level = f"users-{count}"
        phase = f"oltp-tpcc-postgresql-{level}"
        flash = f"resource.{phase}.flash.all"
        line = (
            f"  {count:>3} users {known[f'oltp.{level}.new_orders_per_min']:10,.0f} new orders/min"
        )
        if f"{flash}.hit_ratio.mean" in known:
            line += (
                f", {known[f'{flash}.hit_ratio.mean']:.0f} % hits of "
                f"{known[f'{flash}.hit.mean']:.2f} ms, misses "
                f"{known[f'{flash}.miss.mean']:.0f} ms, "
                f"reads at most {known[f'accelerate.{phase}.speed_up_bound']:.1f} times as fast"
            )
        print(line, flush=True)


def main() -> None:
    above, wanted, *users = [*sys.argv[1:], *("/var/tmp", "")[len(sys.argv) - 1 :]]
    for what in ("dss", "oltp"):
        if wanted not in ("", what):
            continue
        with tempfile.TemporaryDirectory(dir=above) as name, loop(Path(name)) as (slow, device):
            flash = Path(name) / "flash"
            Path(name).chmod(0o711)
            flash.mkdir(mode=0o711)
            print(f"\n{what}", flush=True)
            if what == "oltp":
                orders(slow, flash, users or ["50", "20", "10"], device)
                continue
            with throttled(device, **QUERIES):
                queries(slow, flash)


if __name__ == "__main__":
    main()
