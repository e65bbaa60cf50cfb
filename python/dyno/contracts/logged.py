"""How much a server has written to its log, to tell what a step needs of it.

A target whose log position can be read has a method ``logged_bytes``.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from dyno.contracts.target import Target
from dyno.errors import DynoError


@runtime_checkable
class Logged(Protocol):
    """A target with a readable position of its log."""

    def logged_bytes(self) -> int | None:
        """Bytes that the server has written to its log so far; None if it does not report them.

        All sessions count. Only differences have a meaning.

        Raises:
            DynoError: If the target does not respond.
        """
        ...


def logged(target: Target) -> int | None:
    """The position of a target's log in bytes; None if unknown. Never raises ``DynoError``."""
    if not isinstance(target, Logged):
        return None
    try:
        return target.logged_bytes()
    except DynoError:
        return None


def since(target: Target, before: int | None) -> int | None:
    """Bytes written to the log since ``before``; None if unknown, also after a new log began."""
    now = None if before is None else logged(target)
    return None if now is None or before is None or now < before else now - before
