"""Warnings about the machine. One rule per function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from dyno.bundle.model import Finding
from dyno.config.units import bytes_text
from dyno.host.limits import usable_memory_bytes, usable_threads

Host = dict[str, Any]
Rule = Callable[[Host], Finding | None]

# Clocks that a program reads without entering the kernel, on the architectures that have them.
FAST_CLOCKS = frozenset(
    {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "tod"}
)
LOAD_SHARE_MAX = 0.25
IDLE_PERCENT_MIN = 75.0
STEAL_PERCENT_MAX = 1.0
FREE_BYTES_MIN = 5_000_000_000
FILL_PERCENT_MAX = 85.0
MEMORY_BYTES_MIN = 4_000_000_000
SWAP_SHARE_MAX = 0.01


def warnings(host: Host, *, recorded: bool = False) -> list[Finding]:
    """Findings on host facts as ``dyno.host.facts.collect`` makes them, warnings first.

    Facts that are missing, as in bundles of older versions, give no finding.

    Args:
        host: The facts.
        recorded: Whether the machine's own work is what a run measures.
    """
    rules = [rule for rule in RULES if not (recorded and rule is busy)]
    found = [finding for rule in rules if (finding := rule(host)) is not None]
    return sorted(found, key=lambda finding: finding.level != "warning")


def governor(host: Host) -> Finding | None:
    """Clocks that rise and fall with the load make equal work take unequal time."""
    seen = _get(host, "cpu", "governor")
    if seen in (None, "performance"):
        return None
    return _found(
        "governor",
        "warning",
        f"The CPU frequency governor is {seen}: CPU speed changes with load. Before the "
        "run, set it: cpupower frequency-set -g performance.",
    )


def transparent_huge_pages(host: Host) -> Finding | None:
    """Building huge pages stalls the process that touches memory first."""
    if _get(host, "memory", "transparent_huge_pages") != "always":
        return None
    return _found(
        "thp-always",
        "warning",
        "Transparent huge pages are set to always: databases may stall while the "
        "kernel builds them. Write madvise to "
        "/sys/kernel/mm/transparent_hugepage/enabled.",
    )


def swap(host: Host) -> Finding | None:
    """Pages in swap are read from disk in the middle of a measurement."""
    used = _get(host, "memory", "swap_used_bytes")
    if not used:
        return None
    little = used < SWAP_SHARE_MAX * (_get(host, "memory", "total_bytes") or 0)
    return _found(
        "swap-in-use",
        "note" if little else "warning",
        f"{bytes_text(used)} of swap in use. Stop what uses the memory, then run "
        "swapoff -a && swapon -a.",
    )


def memory(host: Host) -> Finding | None:
    """Too little memory makes every engine work from disk."""
    usable = usable_memory_bytes(host)
    if usable is None or usable >= MEMORY_BYTES_MIN:
        return None
    return _found(
        "low-memory",
        "warning",
        f"Only {bytes_text(usable)} of memory available. Use a smaller --scale, or a "
        f"machine with at least {bytes_text(MEMORY_BYTES_MIN)}.",
    )


def memory_cap(host: Host) -> Finding | None:
    """A control group grants less memory than there is."""
    total = _get(host, "memory", "total_bytes")
    cap = _get(host, "cgroup", "memory_limit_bytes")
    if total is None or cap is None or cap >= total:
        return None
    return _found(
        "cgroup-memory",
        "note",
        f"A control group limits memory to {bytes_text(cap)} of the machine's "
        f"{bytes_text(total)}. Engines are sized to the limit; raise it to measure the "
        "whole machine.",
    )


def cpu_cap(host: Host) -> Finding | None:
    """A quota on CPU time stops every thread once it is used up, until its period ends."""
    logical = _get(host, "cpu", "logical")
    quota = _get(host, "cgroup", "cpu_quota")
    if logical is None or quota is None or quota >= logical:
        return None
    return _found(
        "cgroup-cpu",
        "warning",
        f"A control group limits CPU time to {quota:g} of {logical} CPUs and throttles "
        "processes that exceed it. Remove the limit, or pin to whole CPUs with a cpuset.",
    )


def file_system(host: Host) -> Finding | None:
    """Not every path is storage."""
    storage = host.get("storage", {})
    place = f"{storage.get('path')} is on {storage.get('fs_type')}"
    advice = "Choose a folder on a local disk (--out, or the volume of dyno io)."
    texts = {
        "memory": f"{place}, which is memory: the results do not describe a disk. {advice}",
        "layered": f"{place}, which copies files on their first write. Choose a mounted volume "
        "(--out, or the volume of dyno io).",
        "network": f"{place}: results include the network and the server. {advice}",
        "user": f"{place}, which runs in user space: results include its process. {advice}",
    }
    text = texts.get(str(storage.get("fs_kind")))
    return _found(f"{storage['fs_kind']}-file-system", "warning", text) if text else None


def volatile_cache(host: Host) -> Finding | None:
    """A volatile write cache is only as durable as the device's flushes."""
    names = _disks(host, "write_cache", "write back")
    if not names:
        return None
    return _found(
        "volatile-write-cache",
        "note",
        f"The write cache of {names} is volatile (write back): commits are durable only "
        "if the device honours flushes. Check that it does, or that the cache survives "
        "a power failure.",
    )


def rotational(host: Host) -> Finding | None:
    """A spinning disk has a hundredth of the random I/O of flash."""
    names = _disks(host, "rotational", True)
    if not names:
        return None
    if _get(host, "virtualisation", "virtual"):
        return _found(
            "rotational",
            "note",
            f"Linux reports {names} as rotational, which is common for virtual disks. Check "
            "the measured random reads before you rely on it.",
        )
    return _found(
        "rotational",
        "warning",
        f"{names} is a rotational disk: expect a few hundred random reads per second. "
        "Choose a folder on flash if you have it.",
    )


def virtualised(host: Host) -> Finding | None:
    """A guest shares its processors and disks."""
    if not _get(host, "virtualisation", "virtual"):
        return None
    return _found(
        "virtualised",
        "note",
        "This is a virtual machine: other guests on the host affect the results. "
        "Repeat runs at different times of day before you compare them.",
    )


def steal(host: Host) -> Finding | None:
    """Stolen time is work that this machine was ready for and could not do."""
    now = _get(host, "activity", "steal_percent") or 0.0
    ever = _get(host, "activity", "steal_percent_since_boot") or 0.0
    if max(now, ever) <= STEAL_PERCENT_MAX:
        return None
    return _found(
        "steal",
        "warning",
        f"CPU steal: {now:.1f} % now, {ever:.1f} % since boot. Use dedicated CPUs, or "
        "expect results to vary.",
    )


def busy(host: Host) -> Finding | None:
    """Other work takes part of what is measured."""
    idle = _get(host, "activity", "idle_percent")
    if idle is not None and idle < IDLE_PERCENT_MIN:
        return _found(
            "busy",
            "warning",
            f"The machine is only {idle:.0f} % idle before the run. Stop other work (see "
            "top), then run again.",
        )
    load = (_get(host, "activity", "load_average") or [0.0])[0]
    cpus = usable_threads(host)
    if load <= LOAD_SHARE_MAX * cpus:
        return None
    return _found(
        "busy",
        "note" if idle is not None else "warning",
        f"The 1-minute load average is {load:.2f} on {cpus} CPUs: other work just "
        "ended, or is intermittent. Wait a minute, or stop it (see top).",
    )


def low_disk(host: Host) -> Finding | None:
    """A nearly full volume is slower, and may run out of space."""
    size, free = _get(host, "storage", "size_bytes"), _get(host, "storage", "free_bytes")
    if not size or free is None:
        return None
    filled = 100 * (1 - free / size)
    if free >= FREE_BYTES_MIN and filled <= FILL_PERCENT_MAX:
        return None
    return _found(
        "low-disk",
        "warning",
        f"{bytes_text(free)} free under {_get(host, 'storage', 'path')} ({filled:.0f} % "
        "full); full volumes are slower. Free some space, or use another volume.",
    )


def clocksource(host: Host) -> Finding | None:
    """Slow clocks make every timestamp a system call."""
    seen = _get(host, "clock", "source")
    if seen is None or seen in FAST_CLOCKS:
        return None
    return _found(
        "clocksource",
        "warning",
        f"The clock source is {seen}: reading time is slow and adds to every latency. "
        "If tsc is in available_clocksource, boot with clocksource=tsc.",
    )


def io_uring(host: Host) -> Finding | None:
    """Without io_uring each I/O in flight needs a thread."""
    if _get(host, "io_uring", "allowed") is not False:
        return None
    return _found(
        "no-io-uring",
        "note",
        f"io_uring is not available: {_get(host, 'io_uring', 'reason')}. Storage "
        "profiles use threads instead, which cost more CPU per I/O; allow it for the "
        "best results.",
    )


RULES: tuple[Rule, ...] = (
    busy,
    steal,
    file_system,
    low_disk,
    governor,
    transparent_huge_pages,
    swap,
    memory,
    memory_cap,
    cpu_cap,
    clocksource,
    rotational,
    volatile_cache,
    virtualised,
    io_uring,
)


def _found(code: str, level: Literal["warning", "note"], message: str) -> Finding:
    return Finding(code=code, level=level, message=message, phase="machine")


def _get(host: Host, section: str, name: str) -> Any:
    return host.get(section, {}).get(name)


def _disks(host: Host, name: str, value: object) -> str:
    disks = _get(host, "storage", "disks") or []
    return ", ".join(str(disk["name"]) for disk in disks if disk.get(name) == value)
