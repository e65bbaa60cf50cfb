"""Maintenance tasks that a target can run during a workload, under portable names.

A target with such tasks has a method ``maintenance``.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, get_args, runtime_checkable

from dyno.bundle.model import Check
from dyno.contracts.target import Progress, Target
from dyno.errors import UsageError, unknown

Maintenance = Literal[
    "integrity-check", "reindex", "backup", "vacuum", "quick-check", "sliding-window",
    "create-database",
]  # fmt: skip
"""``integrity-check`` verifies tables and indexes; ``quick-check`` does so without a
comparison of indexes with rows; ``reindex`` rebuilds the indexes online;
``backup`` writes a full copy to a scratch folder under ``--out``; ``vacuum`` removes dead rows and
collects statistics; ``sliding-window`` fills, attaches, detaches and drops partitions of a table of
its own; ``create-database`` creates a database of known size, as a copy or by growing its files,
and drops it."""

_UNKNOWN = "Dyno has no maintenance task for it that leaves it usable"

NAMES: tuple[Maintenance, ...] = get_args(Maintenance)


@dataclass(frozen=True)
class SpaceEstimate:
    """Estimated extra space of a maintenance task.

    Attributes:
        size: Bytes on storage; None if the target sent no estimate.
        source: How the target estimates it.
        seconds: How long the server took to estimate it, if it read the data for that.
    """

    size: int | None
    source: str
    seconds: float | None = None


@dataclass
class Written:
    """Totals of all completed backups.

    Attributes:
        size: Bytes in their files.
        seconds: Time from the start of each until its files are synced, without verification.
    """

    size: int = 0
    seconds: float = 0.0


class Job(Protocol):
    """A prepared maintenance task. Only ``space`` and ``cancel`` are thread-safe."""

    @property
    def method(self) -> str:
        """What the task does, in the target's terms."""
        ...

    @property
    def estimate(self) -> SpaceEstimate:
        """The extra space that it needs."""
        ...

    def run(self, stop: threading.Event, progress: Progress) -> list[Check]:
        """Runs the task once, in its own session. May be called again.

        Damage in the data is a failed check, not an error.

        Raises:
            Interrupted: If ``stop`` was set.
            DynoError: If the task failed.
        """
        ...

    def space(self) -> int | None:
        """Current extra bytes on storage; None if the server does not report it. Thread-safe."""
        ...

    def cancel(self) -> None:
        """Cancels the running statement, after ``stop`` is set. Thread-safe."""
        ...

    def close(self) -> None:
        """Removes its leftovers and closes its sessions. Never raises."""
        ...


@runtime_checkable
class Maintained(Protocol):
    """A target with online maintenance."""

    def maintenance(self, workload: str, name: Maintenance) -> Job | str:
        """The task for a workload's tables, or the reason why it is not supported.

        Raises:
            DynoError: If the target does not respond.
        """
        ...


@runtime_checkable
class Writer(Protocol):
    """A job that writes a copy of the data and reports its size."""

    @property
    def written(self) -> Written:
        """Totals of the completed rounds."""
        ...


@runtime_checkable
class Preparing(Protocol):
    """A job with something to do before the workload starts, which an estimate does not need."""

    def prepare(self) -> None:
        """Does it.

        Raises:
            DiskFullError: If the task does not fit on this machine.
            DynoError: If it cannot be done.
        """
        ...


@runtime_checkable
class Readied(Protocol):
    """A target that must be started differently for some tasks."""

    def before_maintenance(self, name: Maintenance) -> None:
        """Stores the task for the next start."""
        ...


@runtime_checkable
class Stepped(Protocol):
    """A job that times its steps."""

    @property
    def step_seconds(self) -> Mapping[str, float]:
        """Median seconds by step."""
        ...


@runtime_checkable
class Sized(Protocol):
    """A job whose steps write a known size."""

    @property
    def step_bytes(self) -> Mapping[str, int]:
        """Bytes by step."""
        ...


def parse(name: str) -> Maintenance:
    """Parses the name of a task.

    Raises:
        UsageError: If it is unknown; suggests the nearest name.
    """
    if name not in NAMES:
        raise unknown("maintenance", name, NAMES)
    return name


def lacks(target: Target, name: Maintenance) -> str | None:
    """Why a target never supports a task; None if it may.

    A target declares the reasons in ``LACKS_MAINTENANCE``, by task name.
    """
    if not isinstance(target, Maintained):
        return _UNKNOWN
    reasons: Mapping[str, str] = getattr(target, "LACKS_MAINTENANCE", {})
    return reasons.get(name)


def require(target: Target, name: Maintenance) -> None:
    """Refuses a task that the target never supports, before it is started.

    Raises:
        UsageError: With the reason and the supported tasks.
    """
    reason = lacks(target, name)
    if reason is not None:
        has = [other for other in NAMES if other != name and lacks(target, other) is None]
        instead = f" It supports {', '.join(has)}." if has else ""
        raise UsageError(f"{unsupported(target, name, reason)}{instead}")


def is_of_all(target: Target, name: Maintenance) -> bool:
    """Whether a task always covers all databases: a target declares it in ``WHOLE_MAINTENANCE``."""
    return name in getattr(target, "WHOLE_MAINTENANCE", ())


def database(target: Target, name: Maintenance, count: int, asked: int | None) -> int | None:
    """The number of the database to maintain; the first by default.

    Returns:
        None if there is one database only, or if it works on all.

    Raises:
        UsageError: If there is no such database, or none can be chosen.
    """
    if asked is not None and asked > count:
        raise UsageError(f"--during-database {asked} requires --databases {asked} or more.")
    if not is_of_all(target, name):
        return (asked or 1) if count > 1 else None
    if asked is not None:
        raise UsageError(
            f"{name} on the {target.name} target covers all databases: omit --during-database."
        )
    return None


def ready(target: Target, name: Maintenance) -> None:
    """Announces the maintenance to a target before it starts."""
    if isinstance(target, Readied):
        target.before_maintenance(name)


def prepare(target: Target, workload: str, name: Maintenance) -> Job:
    """The maintenance of a workload's tables, to be closed after use.

    Raises:
        UsageError: With the target's reason if it cannot do it.
    """
    found = target.maintenance(workload, name) if isinstance(target, Maintained) else _UNKNOWN
    if isinstance(found, str):
        raise unsupported(target, name, found)
    return found


def unsupported(target: Target, name: Maintenance, reason: str) -> UsageError:
    """The error for a task that a target, or the server that it is connected to, cannot do."""
    return UsageError(f"The {target.name} target does not support {name} during a run: {reason}.")
