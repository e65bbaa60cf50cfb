"""What observing a database costs it: throughput, CPU and bytes, with the probes on and off.

Targets: ≤ 1 % of throughput and ≤ 1.5 % of a core for all probes (machine once a second, sessions
ten times a second), ≤ 100 MB of samples a day. A driver in a process of its own runs point selects,
then TPC-C, without a pause. The probes stay connected and read in every other window (off, on, on,
off); neighbouring windows are compared, and short, because the machine's speed drifts. The start of
a window does not count. CPU is that of this process, which does nothing else, and of
the probes' sessions in PostgreSQL.
`python benches/bench_observe.py [SECONDS [PAIRS [TARGET …]]]`, 20 minutes by default
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import day
import numpy as np
from common import scratch
from paired import Times, more, total

from dyno import _core, host, targets, workloads
from dyno.bundle.tables import read_lines
from dyno.bundle.writer import Recorder
from dyno.contracts.probe import Probed, Sample
from dyno.contracts.target import Loaded, LoadPlan, Target
from dyno.contracts.transactions import Work
from dyno.stages.observe.registry import open_probes
from dyno.stages.observe.sampler import Sampler
from dyno.targets.postgresql.inside.observer import NAME

USERS, WAREHOUSES, ROWS = 8, 5, 100_000
CONNECT_S, SETTLE_S, INTERVAL_S = 4, 0.2, 0.1
DRIVE = """
import json, sys
from dyno import _core
from dyno.stages.drive.scheduler import yield_to_server
plan = open(sys.argv[1]).read()
yield_to_server(json.loads(plan), server=True)
print(_core.drive(plan, _core.Control()))
"""
POINTS = {
    "postgresql": (
        f"CREATE TABLE points AS SELECT i AS id, 0 AS value FROM generate_series(1, {ROWS}) i",
        "ALTER TABLE points ADD PRIMARY KEY (id)",
        "VACUUM ANALYZE points",
    ),
    "mysql": (
        "CREATE DATABASE points",
        "CREATE TABLE points.points (id INT PRIMARY KEY, value INT NOT NULL)",
        f"INSERT INTO points.points SELECT seq, 0 FROM points.seq_1_to_{ROWS}",
    ),
}


class Gated:
    """A probe that reads while its gate is open."""

    def __init__(self, probe: Any, gate: threading.Event) -> None:
        self._probe, self._gate = probe, gate

    def read(self, now_ns: int) -> Sequence[Sample]:
        """The samples, or none."""
        return self._probe.read(now_ns) if self._gate.is_set() else ()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._probe, name)


class Windows:
    """Windows of work with the probes off and on.

    Attributes:
        times: Start and end of the counted part by window, in ns since the Unix epoch.
        cpu: Seconds of CPU of this process and of the probes' sessions by counted part.
    """

    def __init__(self, target: Target, recorder: Recorder, seconds: float) -> None:
        self._target, self._recorder, self._seconds = target, recorder, seconds
        self._gate = threading.Event()
        self.times: list[tuple[int, int]] = []
        self.cpu: list[tuple[float, float]] = []

    @contextmanager
    def connected(self) -> Generator[None]:
        """All probes, connected and silent."""
        assert isinstance(self._target, Probed)
        host = [Gated(probe, self._gate) for probe in open_probes()]
        inside = [Gated(probe, self._gate) for probe in self._target.probes()]
        with Sampler(self._recorder, host) as sampler, sampler.joined(inside):
            sampler.watch(self._target.process_ids())
            self._gate.set()
            time.sleep(CONNECT_S)
            self._gate.clear()
            self._sessions = session_ids(self._target)
            yield

    def run(self, *, observed: bool) -> None:
        (self._gate.set if observed else self._gate.clear)()
        time.sleep(SETTLE_S)
        start_ns, own, theirs = self._now()
        time.sleep(self._seconds)
        end_ns, own_end, theirs_end = self._now()
        self.times.append((start_ns, end_ns))
        self.cpu.append((own_end - own, theirs_end - theirs))

    def _now(self) -> tuple[int, float, float]:
        texts = (Path(f"/proc/{pid}/schedstat").read_text("ascii") for pid in self._sessions)
        found = sum(int(text.split()[0]) for text in texts) / 1e9
        return self._recorder.clock.unix_now_ns(), time.process_time(), found


def session_ids(target: Target) -> list[int]:
    """The processes of the probes' sessions; none if they are threads of the server."""
    if target.name != "postgresql":
        return []
    with closing(target.connect()) as session:
        sessions = f"SELECT pid FROM pg_stat_activity WHERE application_name = '{NAME}'"
        return [int(row[0]) for row in session.execute(sessions).rows]


def compare(
    target: Target, out: Path, name: str, work: dict[str, Any], seconds: float, pairs: int
) -> None:
    recorder = Recorder(out, "bench", {}, ())
    windows = Windows(target, recorder, seconds)
    spool, plan = out / f"{name}.jsonl", out / f"{name}.json"
    length = 2 * pairs * (seconds + SETTLE_S) * 1.2 + 120
    plan.write_text(
        json.dumps({
            **work, "seed": 1, "users": USERS, "loop": {"kind": "closed"}, "warmup_s": 5,
            "duration_s": length, "threads": 1, "interval_s": INTERVAL_S,
            "clock": recorder.clock.model_dump(), "spool": str(spool),
        })
    )  # fmt: skip
    command = [sys.executable, "-c", DRIVE, str(plan)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as driver:
        time.sleep(10)
        with windows.connected():
            for turn in range(pairs):
                for observed in (False, True) if turn % 2 == 0 else (True, False):
                    windows.run(observed=observed)
        assert driver.poll() is None, "the driver ended early"
        driver.terminate()
    report(windows, read_lines(spool), pairs)
    samples = recorder.spool("samples")
    print(f"    with {day.VOLUMES} volumes, {day.measure(read_lines(samples))} (target 100 MB)",
          flush=True)  # fmt: skip
    recorder.close()


def report(windows: Windows, rows: list[dict[str, Any]], pairs: int) -> None:
    def by_side(values: list[float]) -> tuple[Times, Times]:
        ordered = [
            (values[2 * turn], values[2 * turn + 1])[:: 1 if turn % 2 == 0 else -1]
            for turn in range(pairs)
        ]
        off, on = zip(*ordered, strict=True)
        return np.array([off]), np.array([on])

    def rate(window: tuple[int, int]) -> float:
        inside = [row for row in rows if window[0] <= row["t_ns"] < window[1]]
        lengths = {row["t_ns"]: row["seconds"] for row in inside}
        return sum(row["done"] for row in inside) / sum(lengths.values())

    off, on = by_side([rate(window) for window in windows.times])
    cost = more(off, on).times(100 / total(off))
    print(f"    {total(off):,.0f} transactions/s; observed {cost} % (target: at least -1 %)")
    lengths = [(end - start) / 1e9 for start, end in windows.times]
    shares = [
        [100 * use[side] / length for use, length in zip(windows.cpu, lengths, strict=True)]
        for side in (0, 1)
    ]
    own, theirs = (more(*by_side(share)) for share in shares)
    inside = f"{theirs} %" if theirs.value else "not measured"
    print(f"    CPU of a core: probes {own} %, their sessions {inside} (target: 1.5 %)")


def point_selects(target: Target) -> dict[str, Any]:
    with closing(target.connect()) as session:
        for statement in POINTS[target.name]:
            session.execute(statement)
    wire = target.wire() | ({"database": "points"} if target.name == "mysql" else {})
    params = {"sql": "SELECT value FROM points WHERE id = $1", "keys": ROWS, "holds": {"int": 0}}
    return {"wire": wire, "workload": {"kind": "point_select", "params": params}}


def tpcc(target: Target) -> dict[str, Any]:
    target.create_tables("tpcc", replace=True)
    target.load(LoadPlan("tpcc", WAREHOUSES, 1, 2), _core.Control())
    target.index("tpcc", threading.Event(), lambda *_: None)
    driven = workloads.get("tpcc").transactions
    params = driven.params(Work(Loaded(WAREHOUSES, 1, complete=True), "random", "client"))
    return {"wire": target.wire("tpcc"), "workload": {"kind": driven.kind, "params": params}}


WORK: dict[str, Callable[[Target], dict[str, Any]]] = {
    "point selects": point_selects,
    "TPC-C": tpcc,
}


def main() -> None:
    given = sys.argv[1:]
    words = (given + ["1", "100"][len(given) :])[:2]
    seconds, pairs = float(words[0]), int(words[1])
    print(f"{USERS} users, {pairs} pairs of windows of {seconds:g} s: estimate [95 % interval]\n")
    for name in given[2:] or POINTS:
        if targets.lacks(name):
            continue
        print(f"{name}, private server")
        with scratch() as folder:
            out = Path(folder)
            limits = host.limits(host.collect(out))
            url = targets.parse(f"embedded:{name}")
            with targets.open_target(url, out, limits) as target:
                for number, (what, prepare) in enumerate(WORK.items()):
                    print(f"  {what}", flush=True)
                    compare(target, out, f"work-{number}", prepare(target), seconds, pairs)


if __name__ == "__main__":
    main()
