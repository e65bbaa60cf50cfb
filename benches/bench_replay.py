"""How closely a replay keeps to the times of its log, and the memory that a large log takes.

Targets: statements are sent within 1 ms of their time at the 99th percentile, up to 5,000 a
second, over 64 sessions against a private PostgreSQL on the same machine; and at most 300 MB
resident while a log of any size is read and replayed faster than the target can follow. The log is
synthetic: a point select from 100,000 rows, by extended protocol with its value, evenly spaced, as
`jsonlog` has it. The first statement of each session is slow, as its server process has read no
catalog yet: with 64 of them due within 13 ms, a short run has more than 1 % of its statements late.
`python benches/bench_replay.py [SECONDS [MEGABYTES]]`, four minutes by default; 0 seconds leave
the schedule out, and `0 10000` streams a log of 10 GB, which needs that space beside the checkout.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from bench_point_select import opened
from common import process, scratch

from dyno.bundle.model import Clock
from dyno.runtime.progress import Silent
from dyno.stages.drive.replay import OTHER, Selection, scan

ROWS = 100_000
RATES = (500, 1000, 2500, 5000)
SESSIONS = 64
REPLAY = """
import sys
from dyno import _core
plan = open(sys.argv[1]).read()
print(_core.replay_log(plan, _core.Control()))
"""
SCAN = """
import sys
from dyno import _core
print(len(_core.scan_log(open(sys.argv[1]).read(), _core.Control())))
"""


def synthetic(path: Path, rate: float, seconds: float, filler: str = "") -> int:
    """Writes a log; returns its number of statements."""
    count = int(rate * seconds)
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            ms = int(number * 1000 / rate)
            minutes, rest = divmod(ms, 60_000)
            key = number * 7919 % ROWS + 1
            file.write(
                f'{{"timestamp":"2026-11-26 {minutes // 60:02}:{minutes % 60:02}:'
                f'{rest // 1000:02}.{rest % 1000:03} UTC","dbname":"b",'
                f'"session_id":"a.{number % SESSIONS + 1:x}","message":"execute <unnamed>: '
                f'SELECT abalance FROM accounts WHERE aid = $1{filler}",'
                f'"detail":"parameters: $1 = \'{key}\'"}}\n'
            )
    return count


def planned(log: Path, wire: dict[str, Any], speed: float = 1.0) -> tuple[dict[str, Any], int]:
    """The plan of a replay, and the number of statements of the log."""
    scanned = scan(Selection(log, None, True, False, None, None), Silent())
    found = scanned.found
    select = scanned.select.plan() | {"first_ns": found["first_ns"], "ends": scanned.ends}
    plan = {
        "statements": found["statements"],
        "select": select, "wire": wire, "speed": speed,
        "duration_s": scanned.span_s / speed, "sessions": found["sessions"],
        "operations": ["select", OTHER], "classes": {found["classes"][0]["class"]: 0},
        "clock": Clock.now().model_dump(), "spool": str(log.with_suffix(".ops")),
        "interval_s": 1.0, "reconnect_s": 1.0, "threads": 1,
    }  # fmt: skip
    return plan, found["statements"]


def run(plan: dict[str, Any], folder: Path, code: str = REPLAY) -> tuple[Any, float, float]:
    """Runs it in a process of its own; returns its answer, CPU seconds and peak MB."""
    asked, program, answer = folder / "plan.json", folder / "run.py", folder / "answer.json"
    asked.write_text(json.dumps(plan))
    program.write_text(code)
    with answer.open("w") as file:
        cost = process(sys.executable, program, asked, stdout=file)
    return json.loads(answer.read_text()), cost.cpu_s, cost.peak_bytes / 1e6


def schedule(folder: Path, seconds: float) -> None:
    print(f"Schedule, {SESSIONS} sessions, {seconds:g} s a rate, load {os.getloadavg()[0]:.1f}")
    with opened("embedded:postgresql", folder) as target:
        with closing(target.connect()) as session:
            session.execute("CREATE TABLE accounts (aid int PRIMARY KEY, abalance int)")
            session.execute(f"INSERT INTO accounts SELECT g, 0 FROM generate_series(1, {ROWS}) g")
            session.execute("VACUUM ANALYZE accounts")
        for rate in RATES:
            log = folder / "log.json"
            count = synthetic(log, rate, seconds)
            plan, found = planned(log, target.wire())
            outcome, cpu_s, _ = run(plan, folder)
            done = sum(each["done"] for each in outcome["ops"].values())
            assert found == count == done, (found, count, done, outcome["errors_first"])
            late = outcome["schedule_late_ms"]
            print(
                f"  {rate:>5}/s: sent {late['p50']:.3f} ms late at p50, {late['p99']:.3f} at p99 "
                f"(target 1), {late['max']:.1f} at most; {outcome['lag_p99_ms']:.3f} at p99 by the "
                f"driver alone; {outcome['late']:,} of {count:,} waited for the one before; client "
                f"CPU {100 * cpu_s / seconds:.0f} % of a CPU",
                flush=True,
            )


def memory(folder: Path, megabytes: int) -> None:
    log = folder / "large.json"
    filler = " -- " + "x" * 200
    one = 400
    count = synthetic(log, 20_000, megabytes * 1e6 / one / 20_000, filler)
    size = log.stat().st_size / 1e6
    print(f"\nMemory, a log of {size:,.0f} MB with {count:,} statements")
    plan, _ = planned(log, {"kind": "null", "mean_ms": 0.5})
    _, cpu_s, peak = run({"select": plan["select"]}, folder, SCAN)
    print(
        f"  scan: {size / cpu_s:.0f} MB/s of CPU, {peak:.0f} MB resident (target 300)", flush=True
    )
    # 64 sessions of 0.5 ms follow at most 128,000 of 400,000 a second: the replay is far behind.
    plan["speed"], plan["duration_s"] = 20.0, plan["duration_s"] / 20
    outcome, cpu_s, peak = run(plan, folder)
    done = sum(each["done"] for each in outcome["ops"].values())
    late_s = outcome["schedule_late_ms"]["max"] / 1000
    print(
        f"  replay, up to {late_s:.1f} s behind its log: {done:,} of {count:,} sent, {peak:.0f} MB "
        "resident (target 300)"
    )


def main() -> None:
    given = [int(word) for word in sys.argv[1:]]
    seconds, megabytes = (given + [30, 1000][len(given) :])[:2]
    with scratch() as folder:
        if seconds:
            schedule(Path(folder), seconds)
        memory(Path(folder), megabytes)


if __name__ == "__main__":
    main()
