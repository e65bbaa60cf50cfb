"""Maintenance that a target can do while it is being used, under neutral names.

A target that can has a method ``maintenance``; every other one is said to have none.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, get_args, runtime_checkable

from dyno.bundle.model import Check
from dyno.contracts.target import Progress, Target
from dyno.errors import UsageError, unknown

Maintenance = Literal["integrity-check", "reindex", "backup", "vacuum"]
"""``integrity-check`` proves that tables and indexes are whole; ``reindex`` builds the indexes
anew, in the way that lets the work on them go on; ``backup`` writes a whole copy to a scratch
folder under ``--out``; ``vacuum`` clears away dead rows and gathers statistics."""

_UNKNOWN = "Dyno has no maintenance task for it that leaves it usable"

NAMES: tuple[Maintenance, ...] = get_args(Maintenance)


@dataclass(frozen=True)
class SpaceEstimate:
    """Room that the maintenance should need beyond what is there.

    Attributes:
        size: Bytes on storage.
        source: How the target comes to it.
    """

    size: int
    source: str


@dataclass
class Written:
    """What copies of the data elsewhere have taken, all rounds that were done in full.

    Attributes:
        size: Bytes in their files.
        seconds: From the start of each until its files were synced; proving it comes after.
    """

    size: int = 0
    seconds: float = 0.0


class Job(Protocol):
    """A piece of maintenance, ready to run. Not shared, but for ``space`` and ``cancel``."""

    @property
    def method(self) -> str:
        """What is done, in the target's own words."""
        ...

    @property
    def estimate(self) -> SpaceEstimate:
        """The room that it should need."""
        ...

    def run(self, stop: threading.Event, progress: Progress) -> list[Check]:
        """Does the whole of it once, in a session of its own; may be called again.

        Damage that it finds is a failed check, not an error.

        Raises:
            Interrupted: If ``stop`` was set.
            DynoError: If it could not be done.
        """
        ...

    def space(self) -> int | None:
        """Bytes on storage that it takes at this moment beyond what was there, from another thread.

        None where the server does not tell.
        """
        ...

    def cancel(self) -> None:
        """Stops the statement under way, once ``stop`` is set; from any thread."""
        ...

    def close(self) -> None:
        """Removes what is left of it and ends its sessions; never raises."""
        ...


@runtime_checkable
class Maintained(Protocol):
    """A target that can be maintained while it is used."""

    def maintenance(self, workload: str, name: Maintenance) -> Job | str:
        """The maintenance of a workload's tables, or the reason why there is none.

        Raises:
            DynoError: If the target cannot be asked.
        """
        ...


@runtime_checkable
class Writer(Protocol):
    """A job that writes a copy of the data elsewhere, and tells how much."""

    @property
    def written(self) -> Written:
        """What the rounds that were done in full have written."""
        ...


@runtime_checkable
class Readied(Protocol):
    """A target that has to be started in another way for some maintenance."""

    def before_maintenance(self, name: Maintenance) -> None:
        """Takes note of it; the next start makes it possible."""
        ...


def parse(name: str) -> Maintenance:
    """The maintenance called ``name``.

    Raises:
        UsageError: If there is none; the nearest is offered.
    """
    if name not in NAMES:
        raise unknown("maintenance", name, NAMES)
    return name


def lacks(target: Target, name: Maintenance) -> str | None:
    """Why a target can never do it; None if it may.

    A target tells its reasons by the name of the maintenance, in ``LACKS_MAINTENANCE``.
    """
    if not isinstance(target, Maintained):
        return _UNKNOWN
    reasons: Mapping[str, str] = getattr(target, "LACKS_MAINTENANCE", {})
    return reasons.get(name)


def require(target: Target, name: Maintenance) -> None:
    """Refuses what a target can never do, before it is started.

    Raises:
        UsageError: With the reason, and with what the target has.
    """
    reason = lacks(target, name)
    if reason is not None:
        raise _refused(target, name, reason)


def database(target: Target, name: Maintenance, count: int, asked: int | None) -> int | None:
    """Which of ``count`` databases it works on: the first unless another one is asked for.

    A target tells in ``WHOLE_MAINTENANCE`` what always works on all that it has.

    Returns:
        None if there is one database only, or if it works on all.

    Raises:
        UsageError: If there is no such database, or none can be chosen.
    """
    if asked is not None and asked > count:
        raise UsageError(f"--during-database {asked} requires --databases {asked} or more.")
    if name not in getattr(target, "WHOLE_MAINTENANCE", ()):
        return (asked or 1) if count > 1 else None
    if asked is not None:
        raise UsageError(
            f"{name} on the {target.name} target covers all databases: omit --during-database."
        )
    return None


def ready(target: Target, name: Maintenance) -> None:
    """Tells a target that is about to be started what it will be asked for."""
    if isinstance(target, Readied):
        target.before_maintenance(name)


def prepare(target: Target, workload: str, name: Maintenance) -> Job:
    """The maintenance of a workload's tables, to be closed after use.

    Raises:
        UsageError: With the target's reason if it cannot do it.
    """
    found = target.maintenance(workload, name) if isinstance(target, Maintained) else _UNKNOWN
    if isinstance(found, str):
        raise _refused(target, name, found)
    return found


def _refused(target: Target, name: Maintenance, reason: str) -> UsageError:
    has = [other for other in NAMES if other != name and lacks(target, other) is None]
    instead = f" It supports {', '.join(has)}." if has else ""
    return UsageError(
        f"The {target.name} target does not support {name} during a run: {reason}.{instead}"
    )
