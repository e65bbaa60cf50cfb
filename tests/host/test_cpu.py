from __future__ import annotations

from pathlib import Path

import pytest

from dyno.host.cpu import cpu_facts, has_hypervisor_flag, mean_mhz, model_name, parse_cpuinfo
from dyno.host.cpu_times import CpuTimes, parse_stat, shares
from tests.host.machine import CPUINFO_ARM, CPUINFO_GUEST, CPUINFO_X86, write


def test_cpuinfo_of_x86() -> None:
    blocks = parse_cpuinfo(CPUINFO_X86)
    assert len(blocks) == 2
    assert model_name(blocks) == "AMD EPYC 9354P 32-Core Processor"
    assert mean_mhz(blocks) == 3500.2
    assert has_hypervisor_flag(blocks) is False


def test_cpuinfo_of_a_guest_with_an_unknown_clock() -> None:
    blocks = parse_cpuinfo(CPUINFO_GUEST)
    assert has_hypervisor_flag(blocks) is True
    assert mean_mhz(blocks) == 3250.0


def test_cpuinfo_of_arm_has_neither_name_nor_clock_nor_flags() -> None:
    blocks = parse_cpuinfo(CPUINFO_ARM)
    assert model_name(blocks) == "ARM implementer 0x41 part 0xd40"
    assert mean_mhz(blocks) is None
    assert has_hypervisor_flag(blocks) is None


def test_empty_cpuinfo() -> None:
    assert parse_cpuinfo("") == []
    assert model_name([]) is None


def topology(root: Path) -> dict[str, str]:
    files = {"proc/cpuinfo": CPUINFO_X86}
    for index in range(2):
        base = f"sys/devices/system/cpu/cpu{index}"
        files |= {
            f"{base}/topology/thread_siblings_list": "0-1\n",
            f"{base}/topology/physical_package_id": "0\n",
            f"{base}/cpufreq/scaling_governor": "powersave\n",
            f"{base}/cpufreq/cpuinfo_max_freq": f"{3800000 + index}\n",
        }
    files["sys/devices/system/cpu/smt/active"] = "1\n"
    files["sys/devices/system/cpu/intel_pstate/no_turbo"] = "1\n"
    files["sys/devices/system/node/node0/cpulist"] = "0-1\n"
    files["sys/devices/system/node/possible"] = "0\n"
    return files


def test_topology_and_frequency_control(tmp_path: Path) -> None:
    facts = cpu_facts(write(tmp_path, topology(tmp_path)))
    del facts["usable"]  # of this machine
    assert facts == {
        "model": "AMD EPYC 9354P 32-Core Processor",
        "logical": 2,
        "physical": 1,
        "sockets": 1,
        "mhz": 3500.2,
        "max_mhz": 3800.001,
        "governor": "powersave",
        "turbo": False,
        "smt": True,
        "numa_nodes": 1,
    }


@pytest.mark.parametrize(("text", "turbo"), [("1", True), ("0", False)])
def test_turbo_without_intel_pstate(tmp_path: Path, text: str, turbo: bool) -> None:
    write(tmp_path, {"sys/devices/system/cpu/cpufreq/boost": text})
    assert cpu_facts(tmp_path)["turbo"] is turbo


def test_governors_that_differ(tmp_path: Path) -> None:
    files = topology(tmp_path)
    files["sys/devices/system/cpu/cpu1/cpufreq/scaling_governor"] = "performance\n"
    assert cpu_facts(write(tmp_path, files))["governor"] == "performance, powersave"


def test_a_machine_that_reports_nothing(tmp_path: Path) -> None:
    facts = cpu_facts(tmp_path)
    assert facts["logical"] >= 1
    assert facts["model"] is facts["governor"] is facts["turbo"] is facts["physical"] is None


STAT = """\
cpu  100 20 50 1000 30 4 6 10 7 3
cpu0 60 10 30 400 20 4 6 10 7 3
cpu1 40 10 20 600 10 0 0 0 0 0
intr 267775 0 0
ctxt 409408
"""


def test_stat_counts_nice_and_interrupts_but_guests_once() -> None:
    times = parse_stat(STAT)
    assert times.keys() == {"cpu", "cpu0", "cpu1"}
    assert times["cpu"] == CpuTimes(user=120, system=60, iowait=30, steal=10, idle=1000)


def test_stat_of_an_old_kernel() -> None:
    assert parse_stat("cpu 1 2 3 4")["cpu"] == CpuTimes(3, 3, 0, 0, 4)


def test_shares_add_up() -> None:
    before = CpuTimes(user=100, system=50, iowait=10, steal=0, idle=1000)
    after = CpuTimes(user=130, system=60, iowait=20, steal=10, idle=1040)
    found = shares(before, after)
    assert found is not None
    assert (found.user, found.system, found.iowait) == (30.0, 10.0, 10.0)
    assert (found.steal, found.idle, found.busy) == (10.0, 40.0, 40.0)


def test_iowait_that_the_kernel_sets_back_is_not_negative() -> None:
    before = CpuTimes(user=0, system=0, iowait=50, steal=0, idle=0)
    found = shares(before, CpuTimes(user=10, system=0, iowait=40, steal=0, idle=10))
    assert found is not None
    assert (found.user, found.iowait, found.idle) == (50.0, 0.0, 50.0)


def test_no_tick_no_shares() -> None:
    times = CpuTimes(1, 1, 1, 1, 1)
    assert shares(times, times) is None
