from __future__ import annotations

import copy
from typing import Any

import pytest

from dyno.errors import TargetError
from dyno.host.limits import limits, usable_threads
from dyno.host.warnings import RULES, warnings
from tests.host.machine import GB

QUIET: dict[str, Any] = {
    "cpu": {"logical": 16, "usable": 16, "governor": "performance"},
    "memory": {
        "total_bytes": 64 * GB,
        "transparent_huge_pages": "madvise",
        "swap_used_bytes": 0,
    },
    "virtualisation": {"virtual": False},
    "cgroup": {"memory_limit_bytes": None, "cpu_quota": None},
    "storage": {
        "path": "/data",
        "fs_type": "xfs",
        "fs_kind": "disk",
        "size_bytes": 1000 * GB,
        "free_bytes": 600 * GB,
        "disks": [{"name": "nvme0n1", "rotational": False, "write_cache": "write through"}],
    },
    "clock": {"source": "tsc"},
    "activity": {
        "load_average": [0.1, 0.1, 0.1],
        "idle_percent": 99.0,
        "steal_percent": 0.0,
        "steal_percent_since_boot": 0.0,
    },
    "io_uring": {"allowed": True, "reason": None},
}


def machine(**sections: dict[str, Any]) -> dict[str, Any]:
    """A quiet machine, except for these fields."""
    host = copy.deepcopy(QUIET)
    for section, fields in sections.items():
        host[section] |= fields
    return host


SPINNING = {"disks": [{"name": "sda", "rotational": True, "write_cache": "write through"}]}
VOLATILE = {"disks": [{"name": "sda", "rotational": False, "write_cache": "write back"}]}

CASES: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("governor", {"cpu": {"governor": "powersave"}}, "governor", "warning", "cpupower"),
    (
        "thp",
        {"memory": {"transparent_huge_pages": "always"}},
        "thp-always",
        "warning",
        "madvise",
    ),
    ("swap", {"memory": {"swap_used_bytes": 2 * GB}}, "swap-in-use", "warning", "2 GB"),
    ("some swap", {"memory": {"swap_used_bytes": GB // 100}}, "swap-in-use", "note", "10 MB"),
    ("little memory", {"memory": {"total_bytes": 2 * GB}}, "low-memory", "warning", "--scale"),
    (
        "memory cap",
        {"cgroup": {"memory_limit_bytes": 8 * GB}},
        "cgroup-memory",
        "note",
        "8 GB of the machine's 64 GB",
    ),
    ("quota", {"cgroup": {"cpu_quota": 1.5}}, "cgroup-cpu", "warning", "1.5 of 16"),
    (
        "tmpfs",
        {"storage": {"fs_type": "tmpfs", "fs_kind": "memory"}},
        "memory-file-system",
        "warning",
        "/data is on tmpfs",
    ),
    (
        "overlay",
        {"storage": {"fs_type": "overlay", "fs_kind": "layered"}},
        "layered-file-system",
        "warning",
        "volume",
    ),
    (
        "nfs",
        {"storage": {"fs_type": "nfs4", "fs_kind": "network"}},
        "network-file-system",
        "warning",
        "network",
    ),
    (
        "fuse",
        {"storage": {"fs_type": "fuse.x", "fs_kind": "user"}},
        "user-file-system",
        "warning",
        "user space",
    ),
    ("cache", {"storage": VOLATILE}, "volatile-write-cache", "note", "honours flushes"),
    ("disk", {"storage": SPINNING}, "rotational", "warning", "sda"),
    ("busy", {"activity": {"idle_percent": 60.0}}, "busy", "warning", "60 % idle"),
    ("load", {"activity": {"load_average": [4.1, 1, 1]}}, "busy", "note", "4.10 on 16"),
    (
        "load only",
        {"activity": {"load_average": [4.1, 1, 1], "idle_percent": None}},
        "busy",
        "warning",
        "4.10 on 16",
    ),
    ("full", {"storage": {"free_bytes": 100 * GB}}, "low-disk", "warning", "90 % full"),
    (
        "small",
        {"storage": {"size_bytes": 8 * GB, "free_bytes": 4 * GB}},
        "low-disk",
        "warning",
        "4 GB free",
    ),
    ("clock", {"clock": {"source": "hpet"}}, "clocksource", "warning", "clocksource=tsc"),
    ("steal", {"activity": {"steal_percent": 3.0}}, "steal", "warning", "3.0 % now"),
    (
        "steal before",
        {"activity": {"steal_percent_since_boot": 2.0}},
        "steal",
        "warning",
        "2.0 % since boot",
    ),
    ("virtual", {"virtualisation": {"virtual": True}}, "virtualised", "note", "other guests"),
    ("no ring", {"io_uring": {"allowed": False, "reason": "x"}}, "no-io-uring", "note", "x"),
]


def test_a_quiet_machine_has_no_findings() -> None:
    assert warnings(QUIET) == []


@pytest.mark.parametrize(
    ("sections", "code", "level", "words"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_each_finding_alone(sections: dict[str, Any], code: str, level: str, words: str) -> None:
    (finding,) = warnings(machine(**sections))
    assert (finding.code, finding.level) == (code, level)
    assert words in finding.message
    assert "\n" not in finding.message


def test_every_rule_has_a_case() -> None:
    speaking = {
        rule.__name__ for rule in RULES for _, sections, *_ in CASES if rule(machine(**sections))
    }
    assert speaking == {rule.__name__ for rule in RULES}


def test_a_virtual_disk_may_only_seem_to_spin() -> None:
    found = warnings(machine(storage=SPINNING, virtualisation={"virtual": True}))
    assert {(finding.code, finding.level) for finding in found} == {
        ("rotational", "note"),
        ("virtualised", "note"),
    }


def test_warnings_come_before_notes() -> None:
    found = warnings(machine(virtualisation={"virtual": True}, clock={"source": "acpi_pm"}))
    assert [finding.level for finding in found] == ["warning", "note"]


@pytest.mark.parametrize("clock", ["kvm-clock", "arch_sys_counter", None])
def test_clocks_that_are_read_without_the_kernel(clock: str | None) -> None:
    assert warnings(machine(clock={"source": clock})) == []


def test_facts_that_are_missing_give_no_finding() -> None:
    assert warnings({}) == []
    assert warnings({section: {} for section in QUIET}) == []


def test_limits_are_half_the_memory_and_all_processors() -> None:
    found = limits(QUIET)
    assert (found.memory_bytes, found.threads) == (32 * GB, 16)


def test_limits_in_a_control_group() -> None:
    found = limits(machine(cgroup={"memory_limit_bytes": 8 * GB, "cpu_quota": 2.5}))
    assert (found.memory_bytes, found.threads) == (4 * GB, 2)


@pytest.mark.parametrize(("quota", "threads"), [(0.5, 1), (3.0, 3), (99.0, 4), (None, 4)])
def test_threads(quota: float | None, threads: int) -> None:
    assert usable_threads(machine(cpu={"usable": 4}, cgroup={"cpu_quota": quota})) == threads


def test_a_limit_above_the_memory_does_not_count() -> None:
    assert limits(machine(cgroup={"memory_limit_bytes": 999 * GB})).memory_bytes == 32 * GB


def test_unknown_memory_is_refused() -> None:
    with pytest.raises(TargetError, match="Cannot read the size"):
        limits({})
