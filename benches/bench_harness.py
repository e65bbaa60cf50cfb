"""What Dyno adds to a query: against the engine's own client on the same statements.

Target: ≤ 1 ms and ≤ 2 % CPU a query. The clients are DuckDB's Python API (`execute`, `fetchall`)
and `psql` (one process, results to /dev/null). Dyno's side is a whole stream: deadline, record on
disk, digest of the answer. By default an engine that slows down while it counts bytes and memory
does not count during timed queries; "counting" is `--query-figures`. A second turn of the client
itself shows what a difference of nothing looks like here. A client for whom DuckDB keeps its
profile, unread, shows what that costs in the engine.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from common import scratch
from paired import Side, alternate, more, total

from dyno import _core, targets, workloads
from dyno.bundle.writer import Recorder
from dyno.contracts.meter import Metering
from dyno.contracts.target import Limits, Loaded, LoadPlan, Target
from dyno.contracts.workload import Query
from dyno.stages.drive.dss.answer_recorder import AnswerRecorder
from dyno.stages.drive.dss.crew import Crew
from dyno.stages.drive.dss.plan import PowerPlan
from dyno.stages.drive.dss.query import Task, tasks
from dyno.stages.drive.dss.stream import Stream
from dyno.targets.duckdb.connection import DuckdbConnection
from dyno.targets.duckdb.meter import DuckdbMeter
from dyno.targets.postgresql.binaries import find

TRIVIAL = 100

Block = list[Task]
"""Statements that are timed together."""


class Waiting(Recorder):
    """A recorder that reports when a row is on disk: a digest's time belongs to its own query."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "bench", {}, ())
        self.written: SimpleQueue[None] = SimpleQueue()

    def add(self, table: str, rows: Any) -> None:
        super().add(table, rows)
        self.written.put(None)


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


def by_client(
    label: str, execute: Callable[[str], object], cpu: Callable[[], float]
) -> Side[Block]:
    def run(block: Block) -> None:
        for task in block:
            execute(task.sql)

    return Side(label, run, cpu)


def compare(
    target: Target, recorder: Waiting, name: str, blocks: list[Block], base: Side[Block],
    others: list[Side[Block]], rounds: int, *, engine_inside: bool,
) -> None:  # fmt: skip
    with contextlib.ExitStack() as stack:

        def harness(label: str, metering: Metering) -> Side[Block]:
            crew = stack.enter_context(Crew(target, "tpch", metering))
            notary = stack.enter_context(AnswerRecorder(recorder))
            stream = Stream(crew.session(), recorder.clock, target.name, 600.0, crew.stop)

            def run(block: Block) -> None:
                stream.run(block, lambda _, outcome: notary.record(outcome))
                for _ in block:
                    recorder.written.get()

            return Side(label, run, time.process_time)

        sides = [
            harness("Dyno", "untimed"),
            harness("Dyno, counting", "always"),
            replace(base, label="the client again"),
            *others,
        ]
        first, *seen = alternate([base, *sides], blocks, rounds)
    counting = seen[1]
    count = sum(map(len, blocks))
    wall, cpu = total(first.wall), total(first.cpu)
    whole = cpu if engine_inside else wall
    of = "of the CPU of client and engine" if engine_inside else "of a processor"
    print(
        f"  {name}: {wall / count * 1000:.3f} ms a query by the client, "
        f"{cpu / count * 1000:.3f} ms CPU"
    )
    lines = [(side.label, first, times) for side, times in zip(sides, seen, strict=True)]
    # What is left of Dyno where the engine counts for the client too.
    lines += [
        (f"Dyno, counting, over {side.label}", times, counting)
        for side, times in zip(sides, seen, strict=True)
        if side in others
    ]
    for label, less, times in lines:
        wall_more, cpu_more = more(less.wall, times.wall), more(less.cpu, times.cpu)
        # Of a statement that does nothing, a share says nothing.
        share = "" if len(blocks) == 1 else f"\n{'':27}= {cpu_more.times(100 / whole)} % {of}"
        print(
            f"    {label:<22} {wall_more.times(1000 / count)} ms, "
            f"{cpu_more.times(1000 / count)} ms CPU{share}",
            flush=True,
        )


@contextlib.contextmanager
def duckdb(target: Target) -> Iterator[list[Side[Block]]]:
    with (
        closing(target.connect("tpch")) as plain,
        closing(target.connect("tpch")) as counted,
    ):
        assert isinstance(plain, DuckdbConnection)
        assert isinstance(counted, DuckdbConnection)
        DuckdbMeter(counted).before()
        yield [
            by_client(label, lambda sql, raw=raw: raw.execute(sql).fetchall(), time.process_time)
            for label, raw in (("the client", plain.raw), ("its profile", counted.raw))
        ]


@contextlib.contextmanager
def postgresql(target: Target) -> Iterator[list[Side[Block]]]:
    with closing(Psql(target)) as psql:
        yield [by_client("the client", lambda sql: psql.run(f"{sql};"), psql.cpu)]


def main() -> None:
    workload = workloads.get("tpch")
    trivial = Query("one", "", "SELECT 1", ("exact",), {}, lambda *_: {})
    ones = [Task(0, place, trivial, "{}", "SELECT 1") for place in range(TRIVIAL)]
    print("more than the client takes, a query: estimate [95 % interval]; target: 1 ms, 2 % CPU\n")
    for name, title, scale, rounds, clients in (
        ("duckdb", "DuckDB, its Python API", 0.1, 60, duckdb),
        ("duckdb", "DuckDB, its Python API", 1, 30, duckdb),
        # At scale 1 its own passes differ by 40 ms a query: nothing of 1 ms can be seen there.
        ("postgresql", "PostgreSQL, psql", 0.1, 15, postgresql),
    ):
        url = targets.parse(f"embedded:{name}")
        limits = Limits(memory_bytes=2 << 30, threads=2)
        with scratch() as folder, targets.open_target(url, Path(folder), limits) as target:
            recorder = Waiting(Path(folder))
            load(target, scale)
            print(f"{title}, SF {scale:g}, {rounds} rounds")
            queries = tasks(target, workload, PowerPlan("tpch", scale), 0)
            for what, blocks, times in (
                ("SELECT 1", [ones], 2 * rounds),
                ("the 22 queries", [[task] for task in queries], rounds),
            ):
                with clients(target) as (base, *others):
                    compare(
                        target, recorder, what, blocks, base, others, times,
                        engine_inside=name == "duckdb",
                    )  # fmt: skip
            recorder.close()


if __name__ == "__main__":
    main()
