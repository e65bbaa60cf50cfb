"""Memory to build a table in column form."""

from __future__ import annotations

from dataclasses import dataclass

from dyno.bundle import metrics
from dyno.bundle.model import Run

PER_COLUMN = 8e6
"""Bytes for each column and thread: 8 MB (DSS, 7.3.7). Strings need more."""


@dataclass(frozen=True)
class BuildMemory:
    """Memory of a build.

    Attributes:
        bytes: What it needs.
        parallel: Threads of the build.
        free: Least available memory that a run measured; None without one.
        fits: The most threads with which it fits; None without a measurement.
    """

    bytes: float
    parallel: int
    free: float | None
    fits: int | None


def needed(columns: int, parallel: int) -> float:
    """Bytes to build ``columns`` columns with ``parallel`` threads: 8 MB x columns x threads."""
    return PER_COLUMN * columns * parallel


def build_memory(columns: int, parallel: int, free: float | None) -> BuildMemory:
    """The memory of a build, compared with what was free at the peak of a run."""
    fits = None if free is None or not columns else int(free // needed(columns, 1))
    return BuildMemory(needed(columns, parallel), parallel, free, fits)


def least_free(run: Run, target: str, known: metrics.Estimates) -> float | None:
    """The least available memory that a run measured on the machine of a target, in bytes."""
    machine = run.targets[target].machine
    phases = [phase.name for phase in run.phases if phase.target == target]
    least = [
        value
        for name in phases
        if (value := known.value(metrics.Resources(name, machine=machine).memory_available.min))
        is not None
    ]
    return min(least, default=None)
