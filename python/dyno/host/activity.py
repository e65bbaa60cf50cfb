"""Other activity on this machine, which would disturb a measurement."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dyno.host.cpu_times import CpuTimes, parse_stat, shares
from dyno.host.files import ROOT, read_text

WINDOW_S = 0.5
_BOOT = CpuTimes(user=0, system=0, iowait=0, steal=0, idle=0)


def activity_facts(
    root: Path = ROOT, window_s: float = WINDOW_S, wait: Callable[[float], None] = time.sleep
) -> dict[str, Any]:
    """Load averages, and CPU shares over a window in which Dyno is idle."""
    before = parse_stat(read_text(root / "proc/stat") or "").get("cpu")
    wait(window_s)
    after = parse_stat(read_text(root / "proc/stat") or "").get("cpu")
    now = shares(before, after) if before and after else None
    ever = shares(_BOOT, after) if after else None
    return {
        "load_average": _load_average(root),
        "window_s": window_s,
        "idle_percent": round(now.idle, 1) if now else None,
        "steal_percent": round(now.steal, 2) if now else None,
        "steal_percent_since_boot": round(ever.steal, 2) if ever else None,
    }


def _load_average(root: Path) -> list[float]:
    text = read_text(root / "proc/loadavg")
    if text is not None:
        return [float(word) for word in text.split()[:3]]
    return [round(value, 2) for value in os.getloadavg()]
