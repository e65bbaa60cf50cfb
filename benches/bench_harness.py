"""What Dyno adds to a query: against the engine's own client on the same statements.

Target: ≤ 1 ms and ≤ 1 % CPU a query. The clients are DuckDB's Python API (`execute`, `fetchall`)
and `psql` (one process, results to /dev/null). Passes of both alternate; medians of the paired
differences. Dyno's side is a whole stream: deadline, record on disk, digest of the answer.
"""

from __future__ import annotations

import statistics
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

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

SCALE = 0.1
TRIVIAL = 200
ROUNDS_TRIVIAL, ROUNDS = 31, 7


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


def load(target: Target) -> None:
    target.create_tables("tpch", replace=True)
    target.load(LoadPlan("tpch", SCALE, 1, 2), _core.Control())
    target.index("tpch", threading.Event(), lambda *_: None)
    target.mark("tpch", Loaded(SCALE, 1, complete=True))


def timed(work: Callable[[], None], cpu: Callable[[], float]) -> Pass:
    before, start = cpu(), time.perf_counter()
    work()
    return Pass(time.perf_counter() - start, cpu() - before)


def compare(
    target: Target, recorder: Recorder, name: str, run: list[Task],
    client: Callable[[str], object], client_cpu: Callable[[], float], *, engine_inside: bool,
) -> None:  # fmt: skip
    def own() -> None:
        for task in run:
            client(task.sql)

    with Crew(target, "tpch") as crew:
        stream = Stream(crew.session(), recorder.clock, target.name, 600.0, crew.stop)

        def harness() -> None:
            with Notary(recorder) as notary:
                stream.run(run, lambda _, outcome: notary.record(outcome))

        own(), harness()
        seen = [(timed(own, client_cpu), timed(harness, time.process_time)) for _ in range(ROUNDS)]
    count = len(run)
    theirs = statistics.median(a.wall for a, _ in seen)
    added = statistics.median(b.wall - a.wall for a, b in seen) / count * 1000
    cpu = statistics.median(b.cpu - a.cpu for a, b in seen)
    base = statistics.median(a.cpu for a, _ in seen) if engine_inside else theirs
    of = "of the CPU of client and engine" if engine_inside else "of a processor"
    line = (
        f"  {name:<16}{theirs / count * 1000:9.3f} ms a query by the client; Dyno adds "
        f"{added:+.3f} ms (target 1) and {cpu / count * 1000:+.3f} ms CPU"
    )
    # Of a statement that does nothing, a share says nothing.
    share = "" if count == TRIVIAL else f": {100 * cpu / base:+.2f} % {of} (target 1)"
    print(f"{line}{share}", flush=True)


def main() -> None:
    workload = workloads.get("tpch")
    trivial = Query("one", "", "SELECT 1", ("exact",), {}, lambda *_: {})
    ones = [Task(0, place, trivial, {}, "SELECT 1") for place in range(TRIVIAL)]
    with scratch() as folder:
        recorder = Recorder(Path(folder), "bench", {}, ())
        print(f"SF {SCALE:g}; passes of client and Dyno in turn, medians of {ROUNDS} or more pairs")
        for name in ("duckdb", "postgresql"):
            limits = Limits(memory_bytes=2 << 30, threads=2)
            url = targets.parse(f"embedded:{name}")
            with targets.open_target(url, Path(folder), limits) as target:
                load(target)
                all_22 = tasks(target, workload, PowerPlan("tpch", SCALE), 0)
                print({"duckdb": "DuckDB, its Python API", "postgresql": "PostgreSQL, psql"}[name])
                if name == "duckdb":
                    with closing(target.connect("tpch")) as session:
                        for what, run in (("SELECT 1", ones), ("the 22 queries", all_22)):
                            compare(
                                target, recorder, what, run,
                                lambda sql: session.raw.execute(sql).fetchall(),  # type: ignore
                                time.process_time, engine_inside=True,
                            )  # fmt: skip
                else:
                    psql = Psql(target)
                    for what, run in (("SELECT 1", ones), ("the 22 queries", all_22)):
                        compare(
                            target, recorder, what, run, lambda sql, psql=psql: psql.run(f"{sql};"),
                            psql.cpu, engine_inside=False,
                        )  # fmt: skip
                    psql.close()
        recorder.close()


if __name__ == "__main__":
    main()
