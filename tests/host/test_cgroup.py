from __future__ import annotations

from pathlib import Path

import pytest

from dyno.host.cgroup import cgroup_facts, parse_bytes_limit, parse_cpu_max, parse_memberships
from tests.host.machine import write

V2 = "29 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev - cgroup2 cgroup2 rw,nsdelegate\n"
V1 = """\
31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
32 31 0:29 {root} /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 {root} /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
"""


def test_version_2_takes_the_tightest_limit_on_the_way_up(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": "0::/system.slice/db.service\n",
            "proc/self/mountinfo": V2,
            "sys/fs/cgroup/system.slice/memory.max": "4000000000\n",
            "sys/fs/cgroup/system.slice/cpu.max": "max 100000\n",
            "sys/fs/cgroup/system.slice/db.service/memory.max": "max\n",
            "sys/fs/cgroup/system.slice/db.service/cpu.max": "150000 100000\n",
        },
    )
    facts = {"version": 2, "memory_limit_bytes": 4_000_000_000, "cpu_quota": 1.5}
    assert cgroup_facts(tmp_path) == facts


def test_version_2_in_a_container_sees_its_own_root(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": "0::/\n",
            "proc/self/mountinfo": V2,
            "sys/fs/cgroup/memory.max": "2147483648\n",
            "sys/fs/cgroup/cpu.max": "200000 100000\n",
        },
    )
    facts = {"version": 2, "memory_limit_bytes": 2147483648, "cpu_quota": 2.0}
    assert cgroup_facts(tmp_path) == facts


@pytest.mark.parametrize("root", ["/", "/docker/abc"])
def test_version_1_with_and_without_the_hosts_path(tmp_path: Path, root: str) -> None:
    inner = "docker/abc/" if root == "/" else ""
    write(
        tmp_path,
        {
            "proc/self/cgroup": "4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n0::/\n",
            "proc/self/mountinfo": V1.format(root=root),
            f"sys/fs/cgroup/memory/{inner}memory.limit_in_bytes": "1073741824\n",
            f"sys/fs/cgroup/cpu,cpuacct/{inner}cpu.cfs_quota_us": "50000\n",
            f"sys/fs/cgroup/cpu,cpuacct/{inner}cpu.cfs_period_us": "100000\n",
        },
    )
    facts = {"version": 1, "memory_limit_bytes": 1073741824, "cpu_quota": 0.5}
    assert cgroup_facts(tmp_path) == facts


def test_version_1_without_limits(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": "4:memory:/\n2:cpu,cpuacct:/\n",
            "proc/self/mountinfo": V1.format(root="/"),
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
        },
    )
    assert cgroup_facts(tmp_path) == {"version": 1, "memory_limit_bytes": None, "cpu_quota": None}


def test_no_control_groups(tmp_path: Path) -> None:
    none = {"version": None, "memory_limit_bytes": None, "cpu_quota": None}
    assert cgroup_facts(tmp_path) == none


def test_texts() -> None:
    assert parse_memberships("0::/a:b\n9:name=systemd:/\n") == {"": "/a:b", "name=systemd": "/"}
    assert parse_cpu_max("max 100000") is None
    assert parse_cpu_max("250000 100000") == 2.5
    assert parse_cpu_max("") is None
    assert parse_bytes_limit("max") is None
    assert parse_bytes_limit("0") == 0
