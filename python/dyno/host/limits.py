"""What of the machine Dyno gives the engines it starts itself."""

from __future__ import annotations

from typing import Any

from dyno.contracts.target import Limits
from dyno.errors import TargetError


def usable_memory_bytes(host: dict[str, Any]) -> int | None:
    """RAM, or the control group's limit where that is lower; None if neither is known."""
    total = host.get("memory", {}).get("total_bytes")
    cap = host.get("cgroup", {}).get("memory_limit_bytes")
    return min((size for size in (total, cap) if size is not None), default=None)


def usable_threads(host: dict[str, Any]) -> int:
    """Processors of the affinity mask, or whole ones of the control group's quota if fewer."""
    cpus = host.get("cpu", {}).get("usable") or host.get("cpu", {}).get("logical") or 1
    quota = host.get("cgroup", {}).get("cpu_quota")
    return max(1, int(cpus if quota is None else min(cpus, quota)))


def limits(host: dict[str, Any]) -> Limits:
    """Half of the usable memory and all usable processors.

    Half, because the page cache and Dyno also need memory.

    Raises:
        TargetError: If the size of the memory is unknown.
    """
    memory = usable_memory_bytes(host)
    if memory is None:
        raise TargetError("Cannot read the size of this machine's memory; check /proc/meminfo.")
    return Limits(memory_bytes=memory // 2, threads=usable_threads(host))
