"""Errors with a one-line message, an exit code, and a kind for the bundle."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

EXIT_DONE = 0
EXIT_INVALID = 1
EXIT_USAGE = 2
EXIT_UNUSABLE = 3
EXIT_FAULT = 4
EXIT_INTERRUPTED = 130


class DynoError(Exception):
    """Base class: a message for the user, a kind for the bundle and an exit code.

    Attributes:
        kind: One of the classes of ``dyno_record::ErrorKind``, in snake case.
        exit_code: Exit code of the command line.
    """

    kind = "internal"
    exit_code = EXIT_UNUSABLE

    def __init__(self, message: str, *, kind: str | None = None) -> None:
        super().__init__(message)
        if kind is not None:
            self.kind = kind

    @property
    def is_refusal(self) -> bool:
        """Whether a server refused one statement, or gave up its wait for a lock.

        The session goes on.
        """
        return self.kind in ("denied", "database", "lock_timeout")


class UsageError(DynoError):
    """The command line or a plan is invalid (exit 2)."""

    kind = "usage"
    exit_code = EXIT_USAGE


class TargetError(DynoError):
    """A database or volume cannot be used, or failed during the run (exit 3)."""

    kind = "unreachable"


class DatabaseError(TargetError):
    """The database rejected a statement."""

    kind = "database"


class DiskFullError(TargetError):
    """A file system is, or would become, full."""

    kind = "disk_full"


class FaultError(DynoError):
    """An internal error: a bug in Dyno (exit 4)."""

    kind = "internal"
    exit_code = EXIT_FAULT


class Interrupted(DynoError):  # noqa: N818  (an interruption is not an error)
    """The user or a signal stopped the run (exit 130)."""

    kind = "cancelled"
    exit_code = EXIT_INTERRUPTED


_CLASS_OF_KIND: dict[str, type[DynoError]] = {
    "usage": UsageError,
    "cancelled": Interrupted,
    "disk_full": DiskFullError,
    "database": DatabaseError,
    "internal": FaultError,
}


def error_of_kind(kind: str, message: str) -> DynoError:
    """The exception for an error class of the Rust engines.

    Kinds without a class of their own concern the target or the volume.
    """
    return _CLASS_OF_KIND.get(kind, TargetError)(message, kind=kind)


def nearest(word: str, known: Iterable[str]) -> str:
    """``Did you mean 'x'?`` with the nearest known word, or the list of all known words."""
    words = sorted(known)
    close = closest(word, words)
    return f"Known: {', '.join(words)}." if close is None else f"Did you mean '{close}'?"


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word closest to ``word``, if any is close."""
    words = sorted(known)
    alike = [known for known in words if known.casefold() == word.casefold()]
    close = alike or difflib.get_close_matches(word, words, n=1, cutoff=0.6)
    return close[0] if close else None


def unknown(what: str, word: str, known: Iterable[str]) -> UsageError:
    """The error for an unknown word; suggests the nearest known one."""
    return UsageError(f"Unknown {what} '{word}'. {nearest(word, known)}")
