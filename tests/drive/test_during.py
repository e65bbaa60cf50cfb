"""Streams beside maintenance: when it begins, when they end, and what each query counts for."""

from __future__ import annotations

from itertools import islice
from typing import cast

import pytest

from dyno.drive.dss.query import Task
from dyno.drive.during import Course, Upkeep
from dyno.drive.during_queries import Part, _Conductor  # pyright: ignore[reportPrivateUsage]

ORDER = cast("list[Task]", ["q1", "q2", "q3"])


class Work:
    """Maintenance that goes on until it is told that it has ended."""

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
    work.end("no room")
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
