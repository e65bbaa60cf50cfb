from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import psutil
import pytest

from dyno.contracts.probe import Sample
from dyno.runtime import helpers
from dyno.stages.observe.base import Watcher
from dyno.stages.observe.process import ProcessProbe, Usage, resident_bytes, server_samples
from dyno.stages.observe.process_tree import ProcessTree

SECOND = 1_000_000_000

# A server with one child. On request, the child spends CPU time, says how much, and ends, and is
# waited for.
SERVER = """
import os, sys, time
read, write = os.pipe()
child = os.fork()
if child == 0:
    os.close(write)
    if not os.read(read, 1):
        os._exit(1)
    while time.process_time() < 0.3:
        pass
    os.write(1, f"{time.process_time()}\\n".encode())
    os._exit(0)
print(child, flush=True)
sys.stdin.readline()
os.write(write, b"x")
os.waitpid(child, 0)
print("ended", flush=True)
sys.stdin.readline()
"""


class Server:
    """A process tree that obeys the test."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self.process.pid
        self.child = int(self._answer())

    def burn(self) -> float:
        """Lets the child use at least 0.3 s of CPU and end; returns how much it used, in s."""
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        used = float(self._answer())
        assert self._answer() == "ended\n"
        return used

    def stop(self) -> None:
        self.process.kill()
        self.process.communicate()

    def _answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()


@pytest.fixture
def server() -> Generator[Server]:
    started = Server()
    yield started
    started.stop()


def of(subject: str, rows: list[Sample]) -> dict[str, float]:
    return {row.metric: row.value for row in rows if row.subject == subject}


def test_dynos_own_use() -> None:
    probe = ProcessProbe()
    assert of("dyno", probe.read(SECOND)).keys() == {"rss"}
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    found = of("dyno", probe.read(2 * SECOND))
    assert found["cpu"] >= 5.0
    assert found["rss"] > 1_000_000
    assert of("server", probe.read(3 * SECOND)) == {}


def test_a_helper_is_counted_as_dynos(server: Server) -> None:
    probe = ProcessProbe()
    alone = of("dyno", probe.read(SECOND))
    helpers.add(server.pid)
    try:
        assert of("dyno", probe.read(2 * SECOND))["rss"] > alone["rss"]
        used = server.burn()
        found = of("dyno", probe.read(3 * SECOND))
        assert found["cpu"] >= 100 * used - 2
        assert of("server", probe.read(4 * SECOND)) == {}
    finally:
        helpers.remove(server.pid)
    server.stop()
    assert of("dyno", probe.read(5 * SECOND)).keys() == {"cpu", "rss"}


def test_a_child_that_ends_takes_no_cpu_time_with_it(server: Server) -> None:
    probe = ProcessProbe()
    assert isinstance(probe, Watcher)
    probe.watch([server.pid])
    first = of("server", probe.read(SECOND))
    assert first["processes"] == 2
    assert "cpu" not in first
    used = server.burn()
    found = of("server", probe.read(2 * SECOND))
    assert found["processes"] == 1
    assert found["rss"] > 1_000_000
    # Counted exactly once; the kernel's ticks are hundredths of a second.
    assert 100 * used - 2 <= found["cpu"] < 180 * used
    assert of("server", probe.read(3 * SECOND))["cpu"] < 15.0


def test_a_watched_child_is_counted_with_its_parent(server: Server) -> None:
    probe = ProcessProbe()
    probe.watch([server.child, server.pid, server.pid])
    assert of("server", probe.read(SECOND))["processes"] == 2


def test_a_server_that_ends_is_left_out(server: Server) -> None:
    probe = ProcessProbe()
    probe.watch([server.pid])
    probe.read(SECOND)
    os.kill(server.child, 9)
    server.stop()
    assert of("server", probe.read(2 * SECOND)) == {}
    probe.watch([server.pid])
    assert of("server", probe.read(3 * SECOND)) == {}


def test_a_child_that_the_kernel_skips_is_read_again(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = ProcessProbe()
    probe.watch([server.pid])
    probe.read(SECOND)
    real = ProcessTree.pids
    answers = iter([[server.pid]])

    def skip_once(tree: ProcessTree, process: psutil.Process) -> list[int]:
        return next(answers, None) or real(tree, process)

    monkeypatch.setattr(ProcessTree, "pids", skip_once)
    assert of("server", probe.read(2 * SECOND))["processes"] == 2


def test_a_tree_that_keeps_changing_gives_no_value(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = ProcessProbe()
    probe.watch([server.pid])
    never = int(Path("/proc/sys/kernel/pid_max").read_text())  # every process id is smaller
    pids = [server.pid, never]

    def with_a_dead_one(_tree: ProcessTree, _process: psutil.Process) -> list[int]:
        return pids

    monkeypatch.setattr(ProcessTree, "pids", with_a_dead_one)
    assert of("server", probe.read(SECOND)) == {}


def test_both_ways_to_find_descendants_agree(server: Server, tmp_path: Path) -> None:
    process = psutil.Process(server.pid)
    assert ProcessTree().pids(process) == [server.pid, server.child]
    without_lists = ProcessTree(tmp_path)
    assert without_lists.pids(process) == [server.pid, server.child]


def test_shared_memory_counts_once() -> None:
    backends = [Usage(0.0, rss_bytes=110, shared_bytes=100), Usage(0.0, 75, 60)]
    assert resident_bytes(backends) == 10 + 15 + 100
    assert resident_bytes([]) == 0


def test_cpu_counts_trees_in_both_readings() -> None:
    this, other = psutil.Process(), psutil.Process(os.getppid())
    before = {this: {1: Usage(10.0, 0, 0), 2: Usage(5.0, 0, 0)}}
    after = {this: {1: Usage(11.5, 0, 0), 2: Usage(5.5, 0, 0)}, other: {3: Usage(99.0, 0, 0)}}
    assert of("server", server_samples(before, after, 4.0))["cpu"] == 50.0


def test_a_tree_whose_time_falls_used_nothing() -> None:
    this = psutil.Process()
    before, after = {this: {1: Usage(10.0, 0, 0)}}, {this: {1: Usage(4.0, 0, 0)}}
    assert of("server", server_samples(before, after, 1.0))["cpu"] == 0.0
