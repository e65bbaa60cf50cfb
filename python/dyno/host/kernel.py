"""Settings of the kernel that databases depend on: ``/proc/sys``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dyno.host.files import ROOT, read_int

_SYSCTLS = {
    "swappiness": "vm/swappiness",
    "dirty_ratio": "vm/dirty_ratio",
    "dirty_background_ratio": "vm/dirty_background_ratio",
    "dirty_bytes": "vm/dirty_bytes",
    "dirty_background_bytes": "vm/dirty_background_bytes",
    "overcommit_memory": "vm/overcommit_memory",
    "zone_reclaim_mode": "vm/zone_reclaim_mode",
    "numa_balancing": "kernel/numa_balancing",
}


def tunable_facts(root: Path = ROOT) -> dict[str, Any]:
    """Settings of the kernel; the fields are documented in ``dyno.host.fields``."""
    base = root / "proc/sys"
    return {name: read_int(base / path) for name, path in _SYSCTLS.items()}
