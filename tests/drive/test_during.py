"""Streams beside maintenance: when it begins, when they end, and what each query counts for."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from itertools import islice
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dyno import workloads
from dyno.bundle.model import Check
from dyno.bundle.phases.maintenance import MaintenanceDetail
from dyno.bundle.reader import Bundle
from dyno.bundle.writer import Recorder
from dyno.contracts.maintenance import SpaceEstimate
from dyno.contracts.target import QueryResult, Target
from dyno.errors import DatabaseError
from dyno.runtime.progress import Progress, Silent
from dyno.stages.drive import StreamPlan, queries_during
from dyno.stages.drive.dss.query import Task
from dyno.stages.drive.during import Course, DuringPlan, Upkeep
from dyno.stages.drive.during_queries import Part, _Conductor  # pyright: ignore[reportPrivateUsage]
from tests.process import wait_until

ORDER = cast("list[Task]", ["q1", "q2", "q3"])


class Work:
    """Maintenance that runs until the test ends it."""

    def __init__(self) -> None:
        self.course = Course()
        self.started = self.ended = False

    def start(self) -> None:
        assert not self.started
        self.started = True
        self.course.start_ns = 100

    def end(self, error: str | None = None) -> None:
        self.course.end_ns, self.course.error = 200, error
        self.ended = True


@pytest.fixture
def work() -> Work:
    return Work()


def conductor(work: Work, whole: set[Part], stretch_s: float = 0.0) -> _Conductor:
    return _Conductor(cast("Upkeep", work), lambda part: part in whole, stretch_s)


def test_it_begins_once_every_query_has_run_and_ends_after_them_all(work: Work) -> None:
    whole: set[Part] = set()
    found = conductor(work, whole)
    first, second = found.rounds(ORDER), found.rounds(ORDER)
    assert list(islice(first, 7)) == [*ORDER, *ORDER, "q1"]
    assert next(second) == "q1"
    assert not work.started
    whole.add("before")
    assert (next(second), next(first)) == ("q2", "q2")
    assert work.started
    work.end()
    assert (next(second), next(first)) == ("q3", "q3")
    whole.add("after")
    assert list(first) == list(second) == []


def test_the_stretch_lasts_however_quick_the_queries_are(work: Work) -> None:
    found = conductor(work, {"before", "after"}, stretch_s=3600)
    assert len(list(islice(found.rounds(ORDER), 50))) == 50
    assert not work.started


def test_a_maintenance_that_failed_ends_it(work: Work) -> None:
    found = conductor(work, {"before"}).rounds(ORDER)
    next(found)
    work.end("no space")
    assert list(found) == []


def test_a_query_that_sees_both_belongs_to_neither(work: Work) -> None:
    found = conductor(work, set())
    assert found.part(10, 90) == "before"
    work.start()
    parts = [found.part(*times) for times in ((10, 100), (99, 150), (100, 150))]
    assert parts == ["before", "mixed", "during"]
    work.end()
    times = ((10, 90), (50, 150), (100, 200), (150, 201), (50, 250), (200, 250))
    assert [found.part(*pair) for pair in times] == [
        *("before", "mixed", "during", "mixed", "mixed", "after")
    ]


class Refused:
    """Maintenance that the server refuses."""

    method = "REINDEX"
    estimate = SpaceEstimate(0, "none")

    def run(self, stop: threading.Event, progress: Progress) -> list[Check]:
        raise DatabaseError("Must be owner of index a.")

    def space(self) -> int | None:
        return None

    def cancel(self) -> None: ...

    def close(self) -> None: ...


def test_what_the_server_says_of_a_maintenance_is_recorded(recorder: Recorder) -> None:
    target: Any = SimpleNamespace(name="postgresql")
    upkeep = Upkeep(
        recorder,
        cast("Target", target),
        DuringPlan("reindex", 0.0, 60.0),
        Refused(),
        MaintenanceDetail(workload="tpch"),
        lambda: True,
    )
    upkeep.start()
    wait_until(lambda: upkeep.ended, "the end of the maintenance")
    (phase,) = recorder.run.phases
    assert phase.status == "failed"
    assert phase.detail.error == upkeep.course.error == "Must be owner of index a."


class Brief(Refused):
    """Maintenance that takes a moment."""

    def run(self, stop: threading.Event, progress: Progress) -> list[Check]:
        time.sleep(0.005)
        return []


class Uneven:
    """A target whose second database takes longer for a query."""

    name = "null"

    def maintenance(self, workload: str, name: str) -> Brief:
        return Brief()

    def sql(self, workload: str, name: str, neutral: str) -> str:
        return neutral

    def connect(self, place: str) -> Any:
        def execute(sql: str) -> QueryResult:
            time.sleep(0.01 if place.endswith("@2") else 0.001)
            return QueryResult([], [(1,)])

        return SimpleNamespace(execute=execute, close=lambda: None, cancel=lambda: None)


def test_every_query_of_every_database_meets_the_maintenance(recorder: Recorder) -> None:
    plan = StreamPlan("tpch", 0.01, streams=1, first_sets=(0, 0))
    during = DuringPlan("reindex", 0.0, 60.0, 2)
    queries_during(recorder, cast("Target", Uneven()), plan, during, Silent())
    recorder.finish("done")
    seen: dict[tuple[int, str], set[str]] = defaultdict(set)
    for row in Bundle.open(recorder.path).table("during").to_pylist():
        seen[row["database"], row["part"]].add(row["query"])
    every = {query.name for query in workloads.get("tpch").queries}
    assert all(
        seen[number, part] == every for number in (1, 2) for part in ("before", "during", "after")
    )
