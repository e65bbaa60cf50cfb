"""Whose work the CPUs did: planted counters, and real processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from dyno.bundle.model import CpuUse
from dyno.stages.observe.work import EVERY_NS, WorkProbe

ME, SERVER = 100, 200
HZ = os.sysconf("SC_CLK_TCK")


def plant(
    root: Path, cpu: str, *processes: tuple[int, str, int, int, int], started: int = 5
) -> None:
    """Counters of all CPUs, and of each process: id, name, parent, its ticks, its children's."""
    proc = root / "proc"
    for old in proc.glob("*/stat"):
        old.unlink()
    proc.mkdir(exist_ok=True)
    (proc / "stat").write_text(f"cpu {cpu}\ncpu0 {cpu}\n")
    for pid, name, parent, ticks, reaped in processes:
        (proc / str(pid)).mkdir(exist_ok=True)
        middle = "0 " * 9
        times = f"{ticks} 0 {reaped} 0"
        text = f"{pid} ({name}) S {parent} {middle}{times} 20 0 1 0 {started} 0 0\n"
        (proc / str(pid) / "stat").write_text(text)


def use(found: CpuUse | None) -> CpuUse:
    assert found is not None
    return found


def test_own_work_steal_and_others_are_separate(tmp_path: Path) -> None:
    probe = WorkProbe(tmp_path, ME)
    probe.watch([SERVER])
    plant(tmp_path, "0 0 0 0 0 0 0 0", (ME, "dyno", 1, 50, 0), (SERVER, "db", 1, 900, 0),
          (300, "old) one", 1, 7000, 0))  # fmt: skip
    mark = probe.begin()
    assert mark is not None
    plant(tmp_path, "100 0 20 50 0 0 0 30", (ME, "dyno", 1, 60, 5), (SERVER, "db", 1, 920, 0),
          (201, "worker", SERVER, 10, 0), (300, "old) one", 1, 7050, 0),
          (301, "new", 300, 15, 0))  # fmt: skip
    found = use(probe.end(mark))
    assert found.ticks == 200
    assert (found.total_s, found.busy_s, found.steal_s) == (200 / HZ, 120 / HZ, 30 / HZ)
    assert found.own_s == (10 + 5 + 20 + 10) / HZ
    assert found.servers
    assert {one.name: one.cpu_s * HZ for one in found.others} == {"old) one": 50, "new": 15}


def test_work_of_a_child_that_ended_is_its_parents(tmp_path: Path) -> None:
    probe = WorkProbe(tmp_path, ME)
    plant(tmp_path, "0 0 0 0", (ME, "dyno", 1, 50, 0), (101, "server", ME, 400, 0))
    mark = probe.begin()
    plant(tmp_path, "50 0 0 50", (ME, "dyno", 1, 55, 430))
    assert mark is not None
    assert use(probe.end(mark)).own_s == 35 / HZ


def test_one_that_ends_meanwhile_loses_only_its_last_seconds(tmp_path: Path) -> None:
    probe = WorkProbe(tmp_path, ME)
    plant(tmp_path, "0 0 0 0", (ME, "dyno", 1, 0, 0))
    probe.read(0)
    mark = probe.begin()
    plant(tmp_path, "500 0 0 0", (ME, "dyno", 1, 0, 0), (300, "burner", 1, 480, 0))
    assert probe.read(EVERY_NS) == []
    plant(tmp_path, "1000 0 0 0", (ME, "dyno", 1, 0, 0))
    assert mark is not None
    found = use(probe.end(mark))
    assert [(one.name, one.cpu_s) for one in found.others] == [("burner", 480 / HZ)]
    assert found.busy_s == 1000 / HZ


def test_no_counters_no_use(tmp_path: Path) -> None:
    assert WorkProbe(tmp_path, ME).begin() is None


def test_a_real_burner_is_named_and_no_command_line_is_kept() -> None:
    code = """
import sys, time
open("/proc/self/comm", "w").write("burner-x")
sys.stdin.readline()
while time.process_time() < 0.5:
    pass
print("done", flush=True)
sys.stdin.readline()
"""
    # Dyno is somebody else here, or this test's own children would be its work.
    probe = WorkProbe(pid=2**22)
    with subprocess.Popen(
        [sys.executable, "-c", code, "password"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as burner:
        assert burner.stdin is not None and burner.stdout is not None
        mark = probe.begin()
        burner.stdin.write("go\n")
        burner.stdin.flush()
        assert burner.stdout.readline() == "done\n"
        assert mark is not None
        found = use(probe.end(mark))
        burner.stdin.write("end\n")
        burner.stdin.flush()
    named = {one.name: one.cpu_s for one in found.others}
    assert named["burner-x"] >= 0.4
    assert "password" not in found.model_dump_json()


def test_other_processes_are_told_by_name_and_until_they_are_idle_again() -> None:
    # This process counts among the others: the probe takes an idle one for Dyno.
    with subprocess.Popen(["sleep", "1000"]) as idle:
        probe = WorkProbe(pid=idle.pid, tell=True)
        assert probe.read(0) == []
        spent = time.process_time() + 0.5
        while time.process_time() < spent:
            pass
        assert probe.read(EVERY_NS - 1) == [], "it adds up every few seconds"
        own = Path("/proc/self/comm").read_text().strip()
        found = {one.subject: one.value for one in probe.read(EVERY_NS)}
        assert found[own] >= 100 * 0.4 / 5
        later = {one.subject: one.value for one in probe.read(2 * EVERY_NS)}
        assert later.keys() >= found.keys()
        idle.kill()
