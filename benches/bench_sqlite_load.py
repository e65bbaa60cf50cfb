"""SF 1 from nothing into SQLite, against files of `tpchgen-cli` and the shell's `.import`.

Target: ≥ 1.5 times as fast. Both fill the same empty tables (columns typed, single integer keys as
`INTEGER PRIMARY KEY`, no index) with a rollback journal and `synchronous` full; the shell takes
each file in one transaction. Its CSV reader is the faster of its two: `.import` of `.tbl` files
warns about a field too many on each line, since their lines end with a separator.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import time
from pathlib import Path

from common import BIN, pairs, scratch

from dyno import _core, host, targets
from dyno.contracts.target import LoadPlan, Target

ROUNDS = 3
SCALE = float(os.environ.get("SCALE", "1"))
TABLES = ["region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem"]
SHELL = shutil.which("sqlite3")


def ours(out: Path) -> float:
    """Rows only, as the load stage counts them: keys and statistics follow apart."""
    with opened("embedded:sqlite", out) as target:
        target.create_tables("tpch", replace=True)
        return target.load(LoadPlan("tpch", SCALE, 1, 2), _core.Control()).seconds


def opened(url: str, out: Path) -> Target:
    return targets.open_target(targets.parse(url), out, host.limits(host.collect(out)))


def imported(out: Path, parts: dict[str, list[float]]) -> float:
    """CSV files, then one `.import` after another into the tables that Dyno makes."""
    file = out / "peer.sqlite"
    file.unlink(missing_ok=True)
    with opened(f"sqlite://{file}", out) as target:
        target.create_tables("tpch", replace=True)
    folder = out / "files"
    start = time.monotonic()
    subprocess.run(
        [BIN / "tpchgen-cli", "csv", "-s", str(SCALE), "--output-dir", folder, "-q"],
        check=True, capture_output=True,
    )  # fmt: skip
    generated = time.monotonic()
    commands = [f".import --csv --skip 1 '{folder / table}.csv' {table}" for table in TABLES]
    subprocess.run([str(SHELL), "-bail", file], input="\n".join(commands), text=True, check=True)
    end = time.monotonic()
    parts["files"].append(generated - start)
    parts["import"].append(end - generated)
    return end - start


def same_rows(out: Path) -> bool:
    """Whether both files hold the same lines: counts and sums of every kind of column."""
    question = (
        "SELECT count(*), sum(l_orderkey), sum(l_partkey), total(l_extendedprice), "
        "sum(length(l_comment)), min(l_shipdate), max(l_receiptdate) FROM lineitem"
    )
    found = []
    for file in (out / "peer.sqlite", out / "engines" / "sqlite" / "tpch.sqlite"):
        raw = sqlite3.connect(file)
        found.append(raw.execute(question).fetchone())
        raw.close()
    return found[0] == found[1]


def main() -> None:
    if SHELL is None:
        raise SystemExit("The sqlite3 shell is missing; install the package sqlite3.")
    version = subprocess.run([SHELL, "--version"], capture_output=True, text=True, check=True)
    print(f"median of {ROUNDS}; ratio = peer / Dyno, pair by pair")
    print(f"shell {version.stdout.split()[0]}, Python's library {sqlite3.sqlite_version}\n")
    parts: dict[str, list[float]] = {"files": [], "import": []}
    with scratch() as folder:
        out = Path(folder)
        mine, peer, ratio = pairs(ROUNDS, lambda: ours(out), lambda: imported(out, parts))
        print(
            f"SF {SCALE:g} to SQLite   {mine:6.1f} s   peer {peer:5.1f} s   {ratio:.2f} x  "
            "(target 1.5 x)"
        )
        files, load = (sorted(parts[name])[ROUNDS // 2] for name in ("files", "import"))
        alone = load / mine
        print(f"  of the peer: files {files:.1f} s, .import {load:.1f} s ({alone:.2f} x by itself)")
        print(f"  the same rows in both: {same_rows(out)}")


main()
