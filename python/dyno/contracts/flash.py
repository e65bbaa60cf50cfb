"""Targets that put temporary files, a database or the log on flash by their own means, and back.

A target has a module ``targets/<name>/flash`` with ``LACKS`` (part → why it cannot be moved) and
optionally ``NO_CACHE`` (why a cache cannot be in front of its files), and is :class:`Movable` if it
can move any.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Literal, Protocol, get_args, runtime_checkable

from dyno.contracts.target import Target, TargetUrl
from dyno.errors import DynoError, UsageError

Part = Literal["temp", "database", "log"]
"""Temporary files, one database with all that lies in its default place, or the write-ahead log."""

PARTS: tuple[Part, ...] = get_args(Part)

_UNKNOWN = "Dyno does not know where it has them"


@dataclass(frozen=True)
class Wanted:
    """What is to be moved.

    Attributes:
        folder: An absolute path on the server's machine; Dyno uses one folder in it. Empty if it is
            not given, which is possible with ``back``.
        back: Back to where the part was.
        database: The database to move; empty for that of the URL.
        standbys_ready: Whether all standbys have the folder, too.
    """

    part: Part
    folder: str = ""
    back: bool = False
    database: str = ""
    standbys_ready: bool = False


@dataclass(frozen=True)
class Step:
    """One statement or action of Dyno's. It may be interrupted before and after it.

    Attributes:
        text: The statement, for the user.
        run: Does it.
    """

    text: str
    run: Callable[[], None]


@dataclass(frozen=True)
class Move:
    """A move as it stands.

    Attributes:
        name: What a user types to confirm it.
        now: Where the part lies now.
        on_flash: Whether it lies where Dyno puts it on flash; None if the server does not show it.
        steps: What Dyno still has to do, in this order.
        script: Commands for the server's administrator, for what Dyno does not do itself.
        obstacle: Why it cannot be done now.
        notes: What a user should know, a sentence each.
    """

    name: str
    now: str
    on_flash: bool | None
    steps: tuple[Step, ...] = ()
    script: tuple[str, ...] = ()
    obstacle: DynoError | None = None
    notes: tuple[str, ...] = ()


@runtime_checkable
class Movable(Protocol):
    """A server at a URL that can move some parts."""

    def move(self, wanted: Wanted) -> Move:
        """What is left to do. Changes nothing.

        After an interruption, a new move has the steps that finish it, or undo it.

        Raises:
            UsageError: If the folder cannot be used, or something of others is in the way.
            TargetError: If the server does not respond, or this user lacks a right.
        """
        ...


def lacks(name: str, part: Part) -> str | None:
    """Why the target ``name`` cannot move a part; None if it can."""
    module = _module(name)
    if module is None:
        return _UNKNOWN
    reasons: Mapping[Part, str] = module.LACKS
    return reasons.get(part)


def no_cache(name: str) -> str | None:
    """Why no cache goes in front of the files of the target ``name``; None if one can."""
    module = _module(name)
    reason: str | None = None if module is None else getattr(module, "NO_CACHE", None)
    return reason


def _module(name: str) -> ModuleType | None:
    module = f"dyno.targets.{name}.flash"
    return None if importlib.util.find_spec(module) is None else importlib.import_module(module)


def require(url: TargetUrl, part: Part) -> None:
    """Refuses what the target at ``url`` cannot move, before it is connected to.

    Raises:
        UsageError: With the reason.
    """
    reason = lacks(url.name, part)
    if reason is not None:
        raise UsageError(f"The {url.name} target cannot move this ({part}): {reason}.")
    if url.scheme == "embedded":
        raise UsageError(
            "A private engine gets its log and temporary files on flash when it is loaded: dyno "
            "load … --flash FOLDER --flash-log --flash-temp. Give the URL of a server."
        )


def planned(target: Target, wanted: Wanted) -> Move:
    """What is left to do of a move, on a target that :func:`require` accepts."""
    assert isinstance(target, Movable)  # noqa: S101  (a target without it has reasons)
    return target.move(wanted)
