"""Generated rows straight into a private MariaDB, against files and `LOAD DATA`.

Target: at least 1.5 times as fast with two streams. Both fill empty tables with primary keys in the
same server, one after the other. The peer writes files with `tpchgen-cli` first, as its users do,
and loads one after another by `LOAD DATA LOCAL INFILE` of the `mariadb` client; the time of the
statements alone is shown too, and the server's processor time: where two streams need no more of it
than one, they are limited by nothing but the processors that are free.
`python benches/bench_mariadb_load.py [SCALE]`
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import psutil
from common import BIN, scratch

from dyno import _core, host, targets
from dyno.contracts import schema
from dyno.contracts.target import LoadPlan, Target

ROUNDS = 3


@dataclass(frozen=True)
class Cost:
    wall_s: float
    cpu_s: float

    def __str__(self) -> str:
        return f"{self.wall_s:5.1f} s (server CPU {self.cpu_s:5.1f} s)"


def ours(target: Target, scale: float, streams: int) -> Cost:
    target.create_tables("tpch", replace=True)
    before = server_cpu(target)
    outcome = target.load(LoadPlan("tpch", scale, 1, streams), _core.Control())
    return Cost(outcome.seconds, server_cpu(target) - before)


def peers(target: Target, scale: float, out: Path) -> tuple[float, Cost]:
    """Seconds to write the files, and what loading them cost."""
    target.create_tables("tpch", replace=True)
    files = out / "files"
    files.mkdir(exist_ok=True)
    start = time.monotonic()
    subprocess.run(
        [BIN / "tpchgen-cli", "tbl", "-s", f"{scale:g}", "--output-dir", files, "-q"],
        check=True, capture_output=True,
    )  # fmt: skip
    written = time.monotonic()
    before = server_cpu(target)
    for table in schema.table_names("tpch"):
        statement = (
            f"LOAD DATA LOCAL INFILE '{files / table}.tbl' INTO TABLE {table} "
            "CHARACTER SET utf8mb4 FIELDS TERMINATED BY '|'"
        )
        subprocess.run(
            [
                "mariadb", "--no-defaults", "--local-infile=1", "-u", "root",
                "-S", target.wire()["unix_socket"], "dyno_tpch", "-e", statement,
            ],
            check=True,
        )  # fmt: skip
    ended = time.monotonic()
    return written - start, Cost(ended - written, server_cpu(target) - before)


def server_cpu(target: Target) -> float:
    """Processor seconds of the server so far."""
    times = psutil.Process(target.process_ids()[0]).cpu_times()
    return times.user + times.system


def rows(target: Target) -> int:
    with closing(target.connect("tpch")) as session:
        return int(session.execute("SELECT COUNT(*) FROM lineitem").rows[0][0])


def main() -> None:
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    with scratch() as folder:
        out = Path(folder)
        limits = host.limits(host.collect(out))
        with targets.open_target(targets.parse("embedded:mysql"), out, limits) as target:
            print(f"{target.facts().version}, scale {scale:g}; rounds: {ROUNDS}\n")
            seen: list[tuple[float, Cost, Cost, Cost]] = []
            for _ in range(ROUNDS):
                written, loaded = peers(target, scale, out)
                theirs = rows(target)
                two = ours(target, scale, 2)
                assert rows(target) == theirs
                one = ours(target, scale, 1)
                seen.append((written, loaded, two, one))
                print(
                    f"files {written:5.1f} s + LOAD DATA {loaded}   "
                    f"Dyno, 2 streams {two}   1 stream {one}",
                    flush=True,
                )
    whole = statistics.median((a + b.wall_s) / c.wall_s for a, b, c, _ in seen)
    statement = statistics.median(b.wall_s / c.wall_s for _, b, c, _ in seen)
    single = statistics.median((a + b.wall_s) / d.wall_s for a, b, _, d in seen)
    cpu = statistics.median(c.cpu_s / d.cpu_s for _, _, c, d in seen)
    print(
        f"\nmedian ratios, round by round: files and LOAD DATA / Dyno with 2 streams {whole:.2f} x "
        f"(target 1.5 x)\nLOAD DATA alone / Dyno with 2 streams {statement:.2f} x; "
        f"files and LOAD DATA / Dyno with 1 stream {single:.2f} x\n"
        f"server's processor time with 2 streams / with 1: {cpu:.2f} x"
    )


main()
