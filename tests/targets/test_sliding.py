"""The sliding window: it slides, leaves nothing behind, and stops on request."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dyno import targets
from dyno.contracts.maintenance import Job, Stepped, prepare
from dyno.contracts.target import Target
from dyno.errors import Interrupted, UsageError
from dyno.targets.window import KEPT, SHARE, SLIDES, SlidingWindow, slice_name
from tests.maintained import fill
from tests.targets.conftest import LIMITS, ask, embedded_mariadb

LINES = 60_175 // SHARE
LEFT = "SELECT count(*) FROM information_schema.tables WHERE table_name LIKE 'dyno\\_window%'"


@pytest.fixture(
    scope="module", params=["postgresql", pytest.param("mysql", marks=pytest.mark.long)]
)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Target]:
    out = tmp_path_factory.mktemp("sliding")
    if request.param == "mysql":
        opened = embedded_mariadb(out)
    else:
        opened = targets.open_target(targets.parse("embedded:postgresql"), out, LIMITS)
    with opened as target:
        fill(target)
        yield target


def left(target: Target) -> int:
    return int(ask(target, LEFT.replace("\\", "\\\\") if target.name == "mysql" else LEFT)[0][0])


def test_partitions_come_and_go(server: Target) -> None:
    with closing(prepare(server, "tpch", "sliding-window")) as job:
        assert job.estimate.size > 0
        for _ in range(2):
            (check,) = job.run(threading.Event(), lambda done, total, text: None)
            assert check.passed is True, check
            assert check.message == (
                f"{KEPT * LINES:,} rows in partitions {SLIDES + 1} to {KEPT + SLIDES}, "
                f"of {LINES:,} rows each"
            )
            assert left(server) == 0
        assert isinstance(job, Stepped)
        assert set(job.step_seconds) == {"fill", "attach", "detach", "drop"}
        assert all(seconds > 0 for seconds in job.step_seconds.values())
    assert int(ask(server, "SELECT count(*) FROM dyno_tpch.lineitem")[0][0]) == 60_175


def test_a_stopped_one_leaves_nothing_behind(server: Target) -> None:
    stop = threading.Event()
    with closing(prepare(server, "tpch", "sliding-window")) as job:

        def progress(done: int, total: int, text: str) -> None:
            if done == KEPT:
                assert left(server) > 0
                stop.set()

        with pytest.raises(Interrupted):
            job.run(stop, progress)
    assert left(server) == 0


def test_a_lost_partition_is_found(server: Target) -> None:
    with closing(prepare(server, "tpch", "sliding-window")) as job:
        assert isinstance(job, SlidingWindow)
        job.detach = lambda number: None if number == 2 else type(job).detach(job, number)  # type: ignore[method-assign]
        job.drop = lambda number: None  # type: ignore[method-assign]
        (check,) = _run(job)
        assert check.passed is False
        assert slice_name(2) == "dyno_window_2"


def _run(job: Job | SlidingWindow) -> list:  # type: ignore[type-arg]
    return job.run(threading.Event(), lambda done, total, text: None)


def test_engines_without_it_say_why(tmp_path: Path) -> None:
    for name in ("sqlite", "duckdb", "clickhouse"):
        target = targets.open_target(targets.parse(f"embedded:{name}"), tmp_path, LIMITS)
        with pytest.raises(UsageError, match=r"does not support sliding-window.*: \w+"):
            prepare(target, "tpch", "sliding-window")
