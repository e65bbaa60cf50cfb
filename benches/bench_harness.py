"""What Dyno adds to a query: against the engine's own client on the same statements.

Target: ≤ 1 ms and ≤ 1 % CPU a query. The clients are DuckDB's Python API (`execute`, `fetchall`)
and `psql` (one process, results to /dev/null). Passes of all alternate; medians of the paired
differences. Dyno's side is a whole stream: deadline, record on disk, digest of the answer; once
with the engine's figures of each query (the default), once without (`--no-query-figures`). A second
pass of the client itself shows what a difference of nothing looks like here.
"""

from __future__ import annotations

import contextlib
import statistics
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import scratch

from dyno import _core, targets, workloads
from dyno.drive.dss.crew import Crew
from dyno.drive.dss.notary import Notary
from dyno.drive.dss.plan import PowerPlan
from dyno.drive.dss.query import Task, tasks
from dyno.drive.dss.stream import Stream
from dyno.record import Recorder
from dyno.targets.base import Limits, Loaded, LoadPlan, Target
from dyno.targets.postgresql.binaries import find
from dyno.workloads.base import Query

TRIVIAL = 200


@dataclass(frozen=True)
class Pass:
    """Wall and client CPU seconds of one pass."""

    wall: float
    cpu: float


class Psql:
    """One psql process that takes a statement and says when it is done."""

    def __init__(self, target: Target) -> None:
        wire = target.wire("tpch")
        command = [find().program("psql"), "-XqAt", "-h", wire["host"], "-U", wire["user"]]
        self._process = subprocess.Popen(
            [*command, wire["database"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.run("\\o /dev/null")
        self.run(f"SET search_path = {wire['schema']};")

    def run(self, text: str) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{text}\n\\echo done\n")
        self._process.stdin.flush()
        while self._process.stdout.readline().strip() != "done":
            pass

    def cpu(self) -> float:
        """Seconds on a processor, of its only thread."""
        text = Path(f"/proc/{self._process.pid}/schedstat").read_text(encoding="ascii")
        return int(text.split()[0]) / 1e9

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def load(target: Target, scale: float) -> None:
    target.create_tables("tpch", replace=True)
    target.load(LoadPlan("tpch", scale, 1, 2), _core.Control())
    target.index("tpch", threading.Event(), lambda *_: None)
    target.mark("tpch", Loaded(scale, 1, complete=True))


def timed(work: Callable[[], None], cpu: Callable[[], float]) -> Pass:
    before, start = cpu(), time.perf_counter()
    work()
    return Pass(time.perf_counter() - start, cpu() - before)


def compare(
    target: Target, recorder: Recorder, name: str, run: list[Task],
    client: Callable[[str], object], client_cpu: Callable[[], float], rounds: int, *,
    engine_inside: bool,
) -> None:  # fmt: skip
    def own() -> None:
        for task in run:
            client(task.sql)

    with contextlib.ExitStack() as stack:

        def harness(*, figures: bool) -> Callable[[], None]:
            crew = stack.enter_context(Crew(target, "tpch", figures=figures))
            stream = Stream(crew.session(), recorder.clock, target.name, 600.0, crew.stop)

            def work() -> None:
                with Notary(recorder) as notary:
                    stream.run(run, lambda _, outcome: notary.record(outcome))

            return work

        others = {
            "Dyno": (harness(figures=True), time.process_time),
            "Dyno, no figures": (harness(figures=False), time.process_time),
            "the client again": (own, client_cpu),
        }
        for work in (own, *(work for work, _ in others.values())):
            work()
        base: list[Pass] = []
        seen: dict[str, list[Pass]] = {label: [] for label in others}
        for _ in range(rounds):
            base.append(timed(own, client_cpu))
            for label, (work, cpu) in others.items():
                seen[label].append(timed(work, cpu))
    count = len(run)
    theirs = statistics.median(one.wall for one in base)
    cpu = statistics.median(one.cpu for one in base) if engine_inside else theirs
    of = "of the CPU of client and engine" if engine_inside else "of a processor"
    print(f"  {name}: {theirs / count * 1000:.3f} ms a query by the client")
    for label, passes in seen.items():
        pairs = list(zip(base, passes, strict=True))
        wall = statistics.median(b.wall - a.wall for a, b in pairs) / count * 1000
        more = statistics.median(b.cpu - a.cpu for a, b in pairs)
        # Of a statement that does nothing, a share says nothing.
        share = "" if count == TRIVIAL else f": {100 * more / cpu:+.2f} % {of} (target 1)"
        print(
            f"    {label:<17} {wall:+.3f} ms (target 1), {more / count * 1000:+.3f} ms CPU{share}",
            flush=True,
        )


def duckdb(target: Target, recorder: Recorder, what: str, run: list[Task], rounds: int) -> None:
    with closing(target.connect("tpch")) as session:
        raw: Any = session.raw  # type: ignore[attr-defined]
        compare(
            target, recorder, what, run, lambda sql: raw.execute(sql).fetchall(),
            time.process_time, rounds, engine_inside=True,
        )  # fmt: skip


def postgresql(target: Target, recorder: Recorder, what: str, run: list[Task], rounds: int) -> None:
    with closing(Psql(target)) as psql:
        compare(
            target, recorder, what, run, lambda sql: psql.run(f"{sql};"), psql.cpu, rounds,
            engine_inside=False,
        )  # fmt: skip


def main() -> None:
    workload = workloads.get("tpch")
    trivial = Query("one", "", "SELECT 1", ("exact",), {}, lambda *_: {})
    ones = [Task(0, place, trivial, {}, "SELECT 1") for place in range(TRIVIAL)]
    print("passes in turn; medians of the differences to the client's pass of the same round\n")
    for name, title, scale, rounds, work in (
        ("duckdb", "DuckDB, its Python API", 0.1, 31, duckdb),
        ("duckdb", "DuckDB, its Python API", 1, 21, duckdb),
        # At scale 1 its own passes differ by 40 ms a query: nothing of 1 ms can be seen there.
        ("postgresql", "PostgreSQL, psql", 0.1, 15, postgresql),
    ):
        url = targets.parse(f"embedded:{name}")
        limits = Limits(memory_bytes=2 << 30, threads=2)
        with scratch() as folder, targets.open_target(url, Path(folder), limits) as target:
            recorder = Recorder(Path(folder), "bench", {}, ())
            load(target, scale)
            print(f"{title}, SF {scale:g}, {rounds} rounds")
            work(target, recorder, "SELECT 1", ones, rounds)
            work(
                target, recorder, "the 22 queries",
                tasks(target, workload, PowerPlan("tpch", scale), 0), rounds,
            )  # fmt: skip
            recorder.close()


if __name__ == "__main__":
    main()
