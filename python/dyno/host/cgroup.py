"""Limits on memory, CPU and I/O that control groups set for this process: v1 and v2."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from dyno.host.files import ROOT, read_int, read_text
from dyno.host.mounts import Mount, parse_mountinfo

# Version 1 writes "no limit" as the largest multiple of a page below 2^63.
_UNLIMITED = 1 << 60

# Of version 1, a file each.
_THROTTLES = {
    "rbps": "blkio.throttle.read_bps_device",
    "wbps": "blkio.throttle.write_bps_device",
    "riops": "blkio.throttle.read_iops_device",
    "wiops": "blkio.throttle.write_iops_device",
}


def parse_memberships(text: str) -> dict[str, str]:
    """``/proc/self/cgroup``: controller → path in its hierarchy; version 2 under ``""``."""
    paths: dict[str, str] = {}
    for line in text.splitlines():
        fields = line.split(":", 2)
        if len(fields) == 3:
            for controller in fields[1].split(","):
                paths[controller] = fields[2]
    return paths


def parse_cpu_max(text: str) -> float | None:
    """Processors granted by version 2's ``cpu.max`` (``quota period`` in µs, or ``max``)."""
    numbers = [int(word) for word in text.split() if word.isdigit()]
    return numbers[0] / numbers[1] if len(numbers) == 2 and numbers[1] else None


def parse_bytes_limit(text: str) -> int | None:
    """A memory limit in bytes of either version; None for ``max`` and for version 1's endless."""
    if not text.isdigit():
        return None
    limit = int(text)
    return None if limit >= _UNLIMITED else limit


def cgroup_facts(root: Path = ROOT) -> dict[str, Any]:
    """The tightest limits on the way up from this process's groups."""
    paths = parse_memberships(read_text(root / "proc/self/cgroup") or "")
    mounts = parse_mountinfo(read_text(root / "proc/self/mountinfo") or "")
    memory = [_memory_limit(folder) for folder in _folders(root, mounts, paths, "memory")]
    quota = [_cpu_quota(folder) for folder in _folders(root, mounts, paths, "cpu")]
    version = None
    if paths:
        version = 1 if {"memory", "cpu"} & paths.keys() else 2
    return {
        "version": version,
        "memory_limit_bytes": min((n for n in memory if n is not None), default=None),
        "cpu_quota": min((n for n in quota if n is not None), default=None),
    }


def folders(controller: str, root: Path = ROOT) -> list[Path]:
    """Groups that bind ``controller`` for this process, from its own to the top.

    Of several hierarchies one after another: version 1 has one a controller, and beside them may
    be one of version 2.
    """
    paths = parse_memberships(read_text(root / "proc/self/cgroup") or "")
    mounts = parse_mountinfo(read_text(root / "proc/self/mountinfo") or "")
    return list(_folders(root, mounts, paths, controller))


def parse_io_max(text: str) -> dict[str, dict[str, int]]:
    """Version 2's ``io.max``: limits by ``major:minor``; what has none (``max``) is left out."""
    found: dict[str, dict[str, int]] = {}
    for line in text.splitlines():
        number, *words = line.split() or [""]
        pairs = (word.partition("=") for word in words)
        found[number] = {name: int(value) for name, _, value in pairs if value.isdigit()}
    return found


def io_limits(numbers: Collection[str], root: Path = ROOT) -> dict[str, int]:
    """The tightest throttles that hold for this process on any of these devices.

    Args:
        numbers: The devices, as ``major:minor``.
        root: The folder that holds ``proc`` and ``sys``.

    Returns:
        ``rbps`` and ``wbps`` (bytes a second), ``riops`` and ``wiops`` (I/Os a second); those that
        are not limited are absent.
    """
    paths = parse_memberships(read_text(root / "proc/self/cgroup") or "")
    mounts = parse_mountinfo(read_text(root / "proc/self/mountinfo") or "")
    tightest: dict[str, int] = {}
    for folder in _folders(root, mounts, paths, "blkio"):
        for number, limits in _throttles(folder):
            if number in numbers:
                for name, limit in limits.items():
                    tightest[name] = min(limit, tightest.get(name, limit))
    return tightest


def _throttles(folder: Path) -> Iterator[tuple[str, dict[str, int]]]:
    """Devices and limits that one group sets."""
    yield from parse_io_max(read_text(folder / "io.max") or "").items()
    for name, file in _THROTTLES.items():
        for line in (read_text(folder / file) or "").splitlines():
            number, _, limit = line.partition(" ")
            if limit.isdigit():
                yield number, {name: int(limit)}


def _folders(
    root: Path, mounts: Sequence[Mount], paths: dict[str, str], controller: str
) -> Iterator[Path]:
    """Folders of the groups that bind ``controller``, from this process's own to the top."""
    for mount in mounts:
        if mount.fs_type == "cgroup" and controller in mount.options:
            path = paths.get(controller)
        elif mount.fs_type == "cgroup2":
            path = paths.get("")
        else:
            continue
        if path is None:
            continue
        # Without its own namespace a container sees the host's path, but mounts only its part.
        inner = PurePosixPath(path)
        inner = inner.relative_to(mount.root) if inner.is_relative_to(mount.root) else inner
        inner = inner.relative_to("/") if inner.is_absolute() else inner
        top = root / mount.point.lstrip("/")
        yield from (top / part for part in (inner, *inner.parents))


def _memory_limit(folder: Path) -> int | None:
    for name in ("memory.max", "memory.limit_in_bytes"):
        text = read_text(folder / name)
        if text is not None:
            return parse_bytes_limit(text)
    return None


def _cpu_quota(folder: Path) -> float | None:
    text = read_text(folder / "cpu.max")
    if text is not None:
        return parse_cpu_max(text)
    quota, period = read_int(folder / "cpu.cfs_quota_us"), read_int(folder / "cpu.cfs_period_us")
    return quota / period if quota and period and quota > 0 else None
