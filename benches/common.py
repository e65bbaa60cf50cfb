"""What the benchmarks share."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Cost:
    """A whole process: wall and CPU seconds, peak resident bytes (of its largest process)."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


def process(
    *command: str | Path, stdout: Any = subprocess.DEVNULL, fine: Collection[int] = (0,)
) -> Cost:
    """Runs a command and returns its cost, as the kernel accounts for it."""
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen([*map(str, command)], stdout=stdout, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall_s = time.monotonic() - start
        if child.returncode not in fine:
            errors.seek(0)
            raise SystemExit(f"{command} failed: {errors.read()[-500:]}")
    return Cost(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def dyno(*args: str | Path) -> dict[str, Any]:
    """Runs a verb with ``--json`` and returns its document."""
    done = subprocess.run(
        [BIN / "dyno", *map(str, args), "--json", "--quiet"], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode > 1:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def estimate(document: dict[str, Any], ending: str) -> float:
    """The first metric of a run's bundle whose name ends so."""
    text = (Path(document["bundle"]) / "estimates.json").read_text(encoding="utf-8")
    return next(item["value"] for item in json.loads(text) if item["name"].endswith(ending))


def pairs(runs: int, a: Callable[[], float], b: Callable[[], float]) -> tuple[float, float, float]:
    """Runs A and B in turn; returns both medians and the median of the ratios B/A."""
    seen = [(a(), b()) for _ in range(runs)]
    return (
        statistics.median(x for x, _ in seen),
        statistics.median(y for _, y in seen),
        statistics.median(y / x for x, y in seen),
    )


def scratch() -> tempfile.TemporaryDirectory[str]:
    """A folder on the checkout's own volume, removed at the end."""
    root = Path(__file__).parent.parent / "target"
    root.mkdir(exist_ok=True)
    return tempfile.TemporaryDirectory(prefix="bench-", dir=root)
