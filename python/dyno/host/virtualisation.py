"""Whether this machine is a guest, and whether Dyno runs in a container on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dyno.host.cpu import has_hypervisor_flag, parse_cpuinfo
from dyno.host.files import ROOT, read_text

# Firmware product or vendor names of guests, for processors without a hypervisor flag (ARM).
_GUEST_NAMES = (
    "kvm",
    "qemu",
    "vmware",
    "virtualbox",
    "virtual machine",
    "xen",
    "bochs",
    "openstack",
    "google compute engine",
    "alibaba cloud ecs",
)

# Pieces of a control-group path that name what made it.
_CONTAINER_PATHS = {
    "docker": "docker",
    "libpod": "podman",
    "kubepods": "kubernetes",
    "lxc": "lxc",
    "containerd": "containerd",
    "nspawn": "systemd-nspawn",
}


def names_guest(*names: str | None) -> bool:
    """Whether firmware names such as ``QEMU Virtual Machine`` indicate a hypervisor."""
    text = " ".join(name for name in names if name).lower()
    return any(word in text for word in _GUEST_NAMES)


def container_of(cgroup: str) -> str | None:
    """The kind of container in the text of ``/proc/self/cgroup``, if any."""
    for line in cgroup.splitlines():
        path = line.partition(":")[2].partition(":")[2]
        for piece, name in _CONTAINER_PATHS.items():
            if piece in path:
                return name
    return None


def virtualisation_facts(root: Path = ROOT) -> dict[str, Any]:
    """Facts on hypervisor and container; the fields are documented in ``dyno.host.fields``."""
    dmi = root / "sys/class/dmi/id"
    vendor, product = read_text(dmi / "sys_vendor"), read_text(dmi / "product_name")
    kind = read_text(root / "sys/hypervisor/type")
    flag = has_hypervisor_flag(parse_cpuinfo(read_text(root / "proc/cpuinfo") or ""))
    guest = flag
    if flag is None and (kind or vendor or product):
        guest = bool(kind) or names_guest(vendor, product)
    return {
        "virtual": guest,
        "hypervisor": kind,
        "vendor": vendor,
        "product": product,
        "container": _container(root),
    }


def _container(root: Path) -> str | None:
    for marker, name in (("run/.containerenv", "podman"), (".dockerenv", "docker")):
        if (root / marker).exists():
            return name
    recorded = read_text(root / "run/systemd/container")
    return recorded or container_of(read_text(root / "proc/self/cgroup") or "")
