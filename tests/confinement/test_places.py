"""Where control groups can be created, on captured machines of both versions."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from dyno.confinement import places
from dyno.confinement.group import Group
from dyno.confinement.limits_asked import parse
from dyno.errors import UsageError
from tests.host.machine import write

MOUNTS = "29 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev - cgroup2 cgroup2 rw,nsdelegate\n"
FIRST = """\
32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
"""
SCOPE = "user.slice/app.slice/run-1.scope"


def second(root: Path, handed: dict[str, str]) -> Path:
    """A machine with version 2: what each group hands on."""
    files = {"proc/self/cgroup": f"0::/{SCOPE}\n", "proc/self/mountinfo": MOUNTS}
    folder = "sys/fs/cgroup"
    for part in ("", *SCOPE.split("/")):
        folder = f"{folder}/{part}".rstrip("/")
        files[f"{folder}/cgroup.controllers"] = "cpu io memory pids\n"
        files[f"{folder}/cgroup.procs"] = ""
        files[f"{folder}/cgroup.subtree_control"] = handed.get(part, "")
    write(root, files)
    return root


def test_version_2_takes_the_nearest_group_that_hands_on(tmp_path: Path) -> None:
    root = second(tmp_path, {"": "cpu io memory", "app.slice": "cpu memory pids\n"})
    top = root / "sys/fs/cgroup"
    (near,) = places.find(["cpu", "memory"], root)
    assert (near.version, near.parent) == (2, top / "user.slice/app.slice")
    assert near.home == top / SCOPE
    (far,) = places.find(["cpu", "io"], root)
    assert far.parent == top
    with pytest.raises(UsageError, match=r"hands on the controller io.* --limit cpus needs no"):
        places.find(["io"], second(tmp_path, {"app.slice": "cpu memory"}))


def test_version_1_has_a_group_for_each_controller(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": "4:memory:/box\n1:cpu:/\n0::/\n",
            "proc/self/mountinfo": FIRST,
            "sys/fs/cgroup/cpu/cgroup.procs": "",
            "sys/fs/cgroup/memory/box/cgroup.procs": "",
            "sys/fs/cgroup/unified/cgroup.controllers": "",
        },
    )
    top = tmp_path / "sys/fs/cgroup"
    found = places.find(["cpu", "memory"], tmp_path)
    assert [(place.version, place.parent) for place in found] == [
        (1, top / "cpu"),
        (1, top / "memory/box"),
    ]
    with pytest.raises(UsageError, match="controller io"):
        places.find(["io"], tmp_path)


def test_a_machine_without_control_groups(tmp_path: Path) -> None:
    assert places.find([], tmp_path) == []
    with pytest.raises(UsageError, match="no control groups for memory"):
        places.find(["memory"], tmp_path)


def test_version_2_gets_its_limits(tmp_path: Path) -> None:
    root = second(tmp_path, {"": "cpu io memory"})
    group = Group(places.find(["cpu", "memory", "io"], root)[0])
    for name in ("cpu.max", "memory.max", "memory.swap.max", "io.max"):
        (group.path / name).touch()
    group.limit(parse(["cpu=0.5", "memory=64MB", "read_iops=100", "write_bytes=1MB"]), ["8:0"])
    read = {file.name: file.read_text() for file in group.path.iterdir()}
    assert read == {
        "cpu.max": "50000 100000",
        "memory.max": str(64 << 20),
        "memory.swap.max": "0",
        "io.max": "8:0 riops=100 wbps=1048576",
    }
    (group.path / "memory.events").write_text("low 0\nmax 12\noom 1\noom_kill 2\n")
    (group.path / "memory.stat").write_text("anon 1\nworkingset_refault_file 12\n")
    (group.path / "memory.peak").write_text("1000\n")
    (group.path / "cpu.stat").write_text("nr_periods 10\nnr_throttled 4\nthrottled_usec 5000\n")
    assert group.effects() == {
        "periods": 10, "throttled_periods": 4, "throttled_s": 0.005,
        "reread_pages": 12, "killed": 2, "memory_peak_bytes": 1000,
    }  # fmt: skip
    for file in group.path.iterdir():
        file.unlink()
    group.close()
    assert not group.path.exists()


def test_only_groups_of_runs_that_were_killed_are_swept(tmp_path: Path) -> None:
    root = second(tmp_path, {"": "cpu"})
    top = root / "sys/fs/cgroup"
    alive = Group(places.find(["cpu"], root)[0])
    killed = top / "dyno-limit-1-0123abcd"
    used = top / "dyno-limit-2-0123abcd"
    others = [top / "dyno-limit", top / "dyno-bench.slice"]
    for folder in (killed, used, *others):
        folder.mkdir()
    (used / "cgroup.procs").touch()  # the kernel keeps one with processes in it
    places.sweep(root)
    assert not killed.exists()
    assert all(folder.exists() for folder in (alive.path, used, *others))
    handle = os.open(alive.path, os.O_RDONLY)
    with pytest.raises(BlockingIOError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(handle)
    alive.close()
    assert not alive.path.exists()
