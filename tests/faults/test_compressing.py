"""Pieces of a recording are compressed in a child, which may be killed or find the disk full."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from dyno.bundle.reader import Bundle
from dyno.bundle.writer import Recorder
from dyno.errors import DiskFullError
from dyno.runner import compressing
from dyno.runtime import helpers
from tests.faults.conftest import shrunk
from tests.process import wait_until

ROWS = [
    {"t_ns": at, "source": "cpu", "subject": "host", "metric": "busy", "value": at / 8, "unit": "%"}
    for at in range(20_000)
]


@pytest.fixture
def recorder(tmp_path: Path) -> Generator[Recorder]:
    yield from _recorder(tmp_path)


def _recorder(out: Path) -> Generator[Recorder]:
    found = Recorder(out, "watch", {}, ())
    found.add("samples", ROWS)
    yield found
    found.close()


def pieces(recorder: Recorder) -> list[str]:
    return sorted(path.name for path in (recorder.path / "pieces").iterdir())


def all_are_readable(recorder: Recorder) -> None:
    assert Bundle.open(recorder.path).table("samples").to_pylist() == ROWS


@contextlib.contextmanager
def once_it_runs(act: Callable[[int], None]) -> Generator[None]:
    """Acts on the child as soon as there is one."""

    others = set(helpers.pids())  # of tests before

    def started() -> list[int]:
        return [pid for pid in helpers.pids() if pid not in others]

    def wait() -> None:
        wait_until(started, "the child")
        act(started()[0])

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def test_the_child_compresses(recorder: Recorder) -> None:
    others = helpers.pids()
    recorder.rotate("samples", compressing.compress)
    assert pieces(recorder) == ["samples-000001.parquet"]
    assert helpers.pids() == others
    all_are_readable(recorder)


def test_a_child_that_is_killed_leaves_the_rows(recorder: Recorder) -> None:
    with once_it_runs(lambda pid: os.kill(pid, signal.SIGKILL)):
        recorder.rotate("samples", compressing.compress)
    assert "samples-000001.jsonl" in pieces(recorder)
    all_are_readable(recorder)
    recorder.finish("done")
    all_are_readable(recorder)


def test_an_interrupt_waits_for_the_child(recorder: Recorder) -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        once_it_runs(lambda _: signal.pthread_kill(threading.main_thread().ident or 0, 2)),
    ):
        recorder.rotate("samples", compressing.compress)
    assert pieces(recorder) == ["samples-000001.parquet"]
    all_are_readable(recorder)


def test_a_full_disk_is_reported_and_leaves_the_rows(small: Path) -> None:
    with contextlib.contextmanager(_recorder)(small / "out") as recorder:
        assert shrunk(small, 0)
        with pytest.raises(DiskFullError):
            recorder.rotate("samples", compressing.compress)
        assert pieces(recorder) == ["samples-000001.jsonl"]
        all_are_readable(recorder)


@pytest.mark.parametrize("product", ["postgresql", "mysql", "sqlserver"])
def test_a_recorder_loads_neither_pyarrow_nor_numpy(product: str) -> None:
    code = (
        f"import sys, dyno.cli.watch, dyno.runner.watch, dyno.targets.{product}.target\n"
        "print(*sorted({'pyarrow', 'numpy', 'dyno.analyse', 'dyno.report'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
