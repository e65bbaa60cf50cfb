"""The processors: model, count, clock, frequency control."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from dyno.host.files import ROOT, children, read_int, read_text

_CPUS = "sys/devices/system/cpu"


def parse_cpuinfo(text: str) -> list[dict[str, str]]:
    """The blocks of ``/proc/cpuinfo``, one a processor, as name → value."""
    blocks: list[dict[str, str]] = []
    for block in re.split(r"\n\s*\n", text.strip()):
        pairs = (line.partition(":") for line in block.splitlines())
        values = {name.strip(): value.strip() for name, colon, value in pairs if colon}
        if values:
            blocks.append(values)
    return blocks


def model_name(blocks: list[dict[str, str]]) -> str | None:
    """The marketing name, or on ARM, which has none here, implementer and part."""
    for key in ("model name", "cpu model", "cpu", "Model"):
        for block in blocks:
            if block.get(key):
                return " ".join(block[key].split())
    for block in blocks:
        if "CPU part" in block:
            return f"ARM implementer {block.get('CPU implementer', '?')} part {block['CPU part']}"
    return None


def mean_mhz(blocks: list[dict[str, str]]) -> float | None:
    """Mean of the CPUs' current clocks, if the kernel reports them."""
    texts = (block.get("cpu MHz", "") for block in blocks)
    clocks = [float(text) for text in texts if re.fullmatch(r"[\d.]+", text)]  # or "unknown"
    return round(sum(clocks) / len(clocks), 1) if clocks else None


def has_hypervisor_flag(blocks: list[dict[str, str]]) -> bool | None:
    """Whether the processor says it runs under a hypervisor; None where it has no such flag."""
    flags = [block["flags"] for block in blocks if "flags" in block]
    return any("hypervisor" in text.split() for text in flags) if flags else None


def cpu_facts(root: Path = ROOT) -> dict[str, Any]:
    """Facts on the processors; the fields are documented in ``dyno.host.fields``."""
    blocks = parse_cpuinfo(read_text(root / "proc/cpuinfo") or "")
    base = root / _CPUS
    logical = [name for name in children(base) if re.fullmatch(r"cpu\d+", name)]
    cores = _topology(base, logical, "thread_siblings_list")
    packages = _topology(base, logical, "physical_package_id")
    governors = {read_text(base / name / "cpufreq/scaling_governor") for name in logical} - {None}
    max_khz = [read_int(base / name / "cpufreq/cpuinfo_max_freq") or 0 for name in logical]
    smt = read_int(base / "smt/active")
    nodes = [n for n in children(root / "sys/devices/system/node") if re.fullmatch(r"node\d+", n)]
    return {
        "model": model_name(blocks),
        "logical": len(blocks) or os.cpu_count() or 1,
        "usable": usable_cpus(),
        "physical": len(cores) or None,
        "sockets": len(packages) or None,
        "mhz": mean_mhz(blocks),
        "max_mhz": max(max_khz) / 1000 if any(max_khz) else None,
        "governor": ", ".join(sorted(str(word) for word in governors)) or None,
        "turbo": _turbo(base),
        "smt": None if smt is None else smt == 1,
        "numa_nodes": len(nodes) or None,
    }


def usable_cpus() -> int:
    """Processors that this process may be scheduled on (its affinity mask)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _topology(base: Path, logical: list[str], field: str) -> set[str]:
    values = (read_text(base / name / "topology" / field) for name in logical)
    return {value for value in values if value is not None}


def _turbo(base: Path) -> bool | None:
    no_turbo = read_int(base / "intel_pstate/no_turbo")
    if no_turbo is not None:
        return no_turbo == 0
    boost = read_int(base / "cpufreq/boost")
    return None if boost is None else boost == 1
