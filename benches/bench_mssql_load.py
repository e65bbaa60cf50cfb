"""Generated rows straight into a SQL Server, against files and `freebcp`.

Target: at least 1.5 times as fast with two streams. Both fill empty tables in the same server, one
after the other. The peer writes files with `tpchgen-cli` first, as its users do, and loads one
after another by `freebcp` (FreeTDS, package freetds-bin); the time of the loads alone is shown too.
``DYNO_TEST_MSSQL_URL`` names the server, whose database ``dyno_tpch`` is replaced.
`python benches/bench_mssql_load.py [SCALE [ROUNDS]]`
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from common import BIN, scratch

from dyno import _core, host, targets
from dyno.contracts import schema
from dyno.contracts.target import LoadPlan, Target


def ours(target: Target, scale: float, streams: int) -> float:
    target.create_tables("tpch", replace=True)
    return target.load(LoadPlan("tpch", scale, 1, streams), _core.Control()).seconds


def peers(target: Target, scale: float, out: Path) -> tuple[float, float]:
    """Seconds to write the files, and to load them."""
    target.create_tables("tpch", replace=True)
    files = out / "files"
    files.mkdir(exist_ok=True)
    start = time.monotonic()
    subprocess.run(
        [BIN / "tpchgen-cli", "tbl", "-s", f"{scale:g}", "--output-dir", files, "-q"],
        check=True, capture_output=True,
    )  # fmt: skip
    written = time.monotonic()
    wire = target.wire()
    for table in schema.table_names("tpch"):
        done = subprocess.run(
            [
                "freebcp", f"dbo.{table}", "in", files / f"{table}.tbl", "-D", "dyno_tpch",
                "-S", f"{wire['host']}:{wire['port']}", "-U", wire["user"],
                "-P", wire["password"], "-c", "-t", "|", "-r", "|\n", "-b", "100000",
                "-h", "TABLOCK",
            ],
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode != 0:
            raise SystemExit(
                f"freebcp of {table} failed: {done.stdout[-300:]} {done.stderr[-300:]}"
            )
    return written - start, time.monotonic() - written


def rows(target: Target) -> int:
    with closing(target.connect("tpch")) as session:
        return int(session.execute("SELECT COUNT(*) FROM lineitem").rows[0][0])


def main() -> None:
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 0.1
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    url = os.environ["DYNO_TEST_MSSQL_URL"]
    with scratch() as folder:
        out = Path(folder)
        limits = host.limits(host.collect(out))
        with targets.open_target(targets.parse(url), out, limits) as target:
            print(f"{target.facts().version}, scale {scale:g}; rounds: {rounds}\n")
            seen: list[tuple[float, float, float, float]] = []
            for _ in range(rounds):
                written, loaded = peers(target, scale, out)
                theirs = rows(target)
                two = ours(target, scale, 2)
                assert rows(target) == theirs
                one = ours(target, scale, 1)
                seen.append((written, loaded, two, one))
                print(
                    f"files {written:5.1f} s + freebcp {loaded:6.1f} s   "
                    f"Dyno, 2 streams {two:6.1f} s   1 stream {one:6.1f} s",
                    flush=True,
                )
    whole = statistics.median((a + b) / c for a, b, c, _ in seen)
    alone = statistics.median(b / c for _, b, c, _ in seen)
    single = statistics.median((a + b) / d for a, b, _, d in seen)
    print(
        f"\nmedian ratios, round by round: files and freebcp / Dyno with 2 streams {whole:.2f} x "
        f"(target 1.5 x)\nfreebcp alone / Dyno with 2 streams {alone:.2f} x; "
        f"files and freebcp / Dyno with 1 stream {single:.2f} x"
    )


main()
