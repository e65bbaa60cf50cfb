"""Facts about the machine that affect results."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dyno import __version__
from dyno.host.activity import WINDOW_S, activity_facts
from dyno.host.cgroup import cgroup_facts
from dyno.host.cpu import cpu_facts
from dyno.host.files import ROOT
from dyno.host.io_uring import io_uring_facts
from dyno.host.kernel import tunable_facts
from dyno.host.memory import memory_facts
from dyno.host.network import interfaces
from dyno.host.storage import storage_facts
from dyno.host.system import clock_facts, kernel_facts, os_facts
from dyno.host.virtualisation import virtualisation_facts


def collect(
    path: Path,
    *,
    root: Path = ROOT,
    window_s: float = WINDOW_S,
    wait: Callable[[float], None] = time.sleep,
) -> dict[str, Any]:
    """Facts on this machine and on the storage under ``path``, ready for JSON.

    ``dyno.host.fields`` documents every field. Takes ``window_s`` seconds, in which it watches
    how idle the machine is.

    Raises:
        TargetError: If the file system under ``path`` does not answer.
    """
    return {
        "cpu": cpu_facts(root),
        "memory": memory_facts(root),
        "kernel": kernel_facts(),
        "os": os_facts(root),
        "virtualisation": virtualisation_facts(root),
        "cgroup": cgroup_facts(root),
        "storage": storage_facts(path, root),
        "tunable": tunable_facts(root),
        "network": {"interfaces": interfaces(root)},
        "clock": clock_facts(root),
        "activity": activity_facts(root, window_s, wait),
        "io_uring": io_uring_facts(root),
        "dyno": {
            "version": __version__,
            "python": platform.python_version(),
            "implementation": platform.python_implementation(),
        },
    }
