"""``--live``, the progress in the bundle, and the numbers on the terminal."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from rich.console import Console as RichConsole

from dyno.bundle import progress
from dyno.cli._console import Bar, bars_on
from dyno.cli._pulse import words
from dyno.live.watched import Watched
from dyno.runner.ahead import Part
from dyno.runner.events import SilentEvents
from dyno.runner.reported import Reported
from dyno.workspace.lock import OutLock
from tests.bundles import quickstart
from tests.process import dyno, start, wait_for_phase, wait_until

RUN = ("run", "tpcc", "--target", "null:?mean_us=2000", "--users", "2", "--live")


def pages(run: Path) -> list[psutil.Process]:
    """Servers of the page of a run."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter(["cmdline"]):
        command = process.info["cmdline"] or []
        if "watch" in command and str(run) in command:
            found.append(process)
    return found


def test_the_url_is_printed_and_the_page_ends_with_the_run(tmp_path: Path) -> None:
    done = dyno(*RUN, "--warmup", "1s", "--duration", "6s", "--out", tmp_path)
    assert done.returncode in (0, 1), done.stderr
    assert "Live page: http://127.0.0.1:" in done.stderr
    (run,) = tmp_path.glob("2*")
    wait_until(lambda: not pages(run), "the page to end", timeout=60)


def test_the_page_ends_with_a_killed_run(tmp_path: Path) -> None:
    process = start(*RUN, "--duration", "60s", "--out", tmp_path)
    wait_for_phase(process, tmp_path, "oltp")
    (run,) = tmp_path.glob("2*")
    wait_until(lambda: pages(run), "the page", timeout=60)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    wait_until(lambda: not pages(run), "the page to end", timeout=60)


def test_progress_is_written_once_a_second_and_removed(tmp_path: Path) -> None:
    reported = Reported(SilentEvents(), tmp_path, lambda: 7, [Part(100.0), Part(900.0)])
    with reported.phase("Load") as phase:
        first = progress.read(tmp_path)
        assert first is not None
        assert (first.phase, first.t_ns, first.phase_left_s) == ("Load", 7, None)
        phase.update(50, 100, "half")
        second = progress.read(tmp_path)
        assert second is not None
        assert (second.done, second.total, second.text) == (50, 100, "half")
        assert second.phase_left_s is not None
        assert second.run_left_s == pytest.approx(900, abs=60)
        phase.update(60, 100, "too soon")
        assert progress.read(tmp_path) == second
    reported.close()
    assert list(tmp_path.iterdir()) == []


def test_progress_that_cannot_be_written_ends_no_run(tmp_path: Path) -> None:
    reported = Reported(SilentEvents(), tmp_path / "gone", lambda: 7)
    with reported.phase("Load") as phase:
        phase.update(1, 2)
    reported.close()


def test_progress_of_others_is_not_believed(tmp_path: Path) -> None:
    for text in ("", "[]", "{", json.dumps({"t_ns": "x", "phase": 3}), "9" * 70_000):
        (tmp_path / progress.NAME).write_text(text)
        assert progress.read(tmp_path) is None


def test_the_numbers_of_a_running_run(tmp_path: Path) -> None:
    builder = quickstart(tmp_path)
    builder.oltp(16, level="users-17", status="running")
    with OutLock(tmp_path):  # as the process of the run holds it
        watched = Watched(builder.write("running").path)
        while not watched.poll():
            pass
        found = words(watched)
    assert " tps p95 " in found
    assert " err 0 CPU " in found


@pytest.mark.parametrize("columns", [80, 160])
@pytest.mark.parametrize("title", ["tpcc on postgresql, 128 users", "Load"])
def test_the_live_line_fits(columns: int, title: str) -> None:
    console = RichConsole(width=columns, force_terminal=True, file=io.StringIO())
    numbers = "12,345 tps p95 12.3 ms err 0 CPU 83%"
    with bars_on(console) as bars:
        Bar(bars, title, lambda: numbers, lambda: 3723.4).update(50, 100, "warm-up of 16 users")
        line_of_it = bars.make_tasks_table(bars.tasks)
    shown = RichConsole(width=columns, file=io.StringIO())
    with shown.capture() as printed:
        shown.print(line_of_it)
    (line,) = printed.get().splitlines()
    assert len(line) <= columns
    assert numbers in line
    assert "1:02:03" in line
    assert ("warm-up of 16 users" in line) is (columns == 160)


def test_the_numbers_are_read_while_the_process_ends(tmp_path: Path) -> None:
    bundle = quickstart(tmp_path).write("running").path
    done = subprocess.run(
        [sys.executable, "-c", _READS_AT_THE_END, bundle],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "read\n")


_READS_AT_THE_END = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from dyno.live.watched import Watched

watched, pool = Watched(Path(sys.argv[1])), ThreadPoolExecutor(1)

def read():
    threading.main_thread().join()
    try:
        while True:  # until nothing can be handed to another thread any more
            pool.submit(int).result()
    except RuntimeError:
        while not watched.poll():
            pass
        print("read")

threading.Thread(target=read).start()
"""
