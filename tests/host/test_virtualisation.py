from __future__ import annotations

import errno
from pathlib import Path

import pytest

from dyno.host.io_uring import explain
from dyno.host.virtualisation import container_of, names_guest, virtualisation_facts
from tests.host.machine import CPUINFO_ARM, CPUINFO_GUEST, CPUINFO_X86, write


@pytest.mark.parametrize(
    ("cpuinfo", "product", "virtual"),
    [
        (CPUINFO_X86, "PowerEdge R6615", False),
        (CPUINFO_GUEST, "m7i.large", True),
        (CPUINFO_ARM, "KVM Virtual Machine", True),
        (CPUINFO_ARM, "ThinkSystem HR330A", False),
    ],
)
def test_hypervisor(tmp_path: Path, cpuinfo: str, product: str, virtual: bool) -> None:
    texts = {"proc/cpuinfo": cpuinfo, "sys/class/dmi/id/product_name": f"{product}\n"}
    facts = virtualisation_facts(write(tmp_path, texts))
    assert facts["virtual"] is virtual
    assert facts["product"] == product
    assert facts["container"] is None


def test_an_arm_board_that_reports_nothing(tmp_path: Path) -> None:
    facts = virtualisation_facts(write(tmp_path, {"proc/cpuinfo": CPUINFO_ARM}))
    assert facts["virtual"] is None


def test_names_of_guests() -> None:
    assert names_guest("Microsoft Corporation", "Virtual Machine")
    assert not names_guest("Dell Inc.", None)


@pytest.mark.parametrize(
    ("files", "container"),
    [
        ({".dockerenv": ""}, "docker"),
        ({"run/.containerenv": ""}, "podman"),
        ({"run/systemd/container": "lxc\n"}, "lxc"),
        ({"proc/self/cgroup": "4:memory:/kubepods/burstable/pod1\n"}, "kubernetes"),
        ({"proc/self/cgroup": "0::/user.slice\n"}, None),
    ],
)
def test_container(tmp_path: Path, files: dict[str, str], container: str | None) -> None:
    assert virtualisation_facts(write(tmp_path, files))["container"] == container


def test_container_of_a_path() -> None:
    assert container_of("0::/system.slice/docker-0123.scope") == "docker"
    assert container_of("") is None


def test_io_uring_reasons() -> None:
    assert "5.1" in explain(errno.ENOSYS, None)
    assert explain(errno.EPERM, 2) == "kernel.io_uring_disabled is 2"
    assert "seccomp" in explain(errno.EPERM, 0)
    assert "ulimit" in explain(errno.ENOMEM, 0)
    assert explain(errno.EINVAL, 0)
