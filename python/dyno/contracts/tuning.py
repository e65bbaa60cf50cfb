"""How a target applies portable settings.

A target with settings has a module ``targets/<name>/tuning.py`` with ``KNOBS`` (portable name →
the target's parameter), optionally ``LACKS`` (portable name → why it has none) and ``ONLY_NAMED``
(why Dyno sets nothing there that the user did not name), and implements :class:`Tunable`.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Protocol, runtime_checkable

from dyno.bundle.model import Applied
from dyno.config.settings import Setting
from dyno.contracts.target import Target, TargetUrl
from dyno.errors import TargetError, UsageError, nearest


@dataclass(frozen=True)
class Change:
    """A new value for one parameter of a server.

    Attributes:
        value: In the server's syntax.
        amount: As a number of bytes, seconds or a count; None for a word or a path.
    """

    word: str
    asked: str
    name: str
    value: str
    amount: int | None = None
    note: str = ""

    def applied(self, found: str, before: str, how: str, note: str) -> Applied:
        """The record, given that the live system reported ``found``."""
        return Applied(
            word=self.word,
            asked=self.asked,
            name=self.name,
            value=self.value,
            found=found,
            before=before,
            how=how,
            note=note,
        )

    def missing(self, server: str) -> UsageError:
        """The error for a parameter that the server does not have."""
        return UsageError(f"{self.word}={self.asked}: {server} has no {self.name}.")

    def left_to_owner(self, why: str, todo: str) -> UsageError:
        """The error for a parameter that only the server's owner may change.

        Args:
            why: A clause that follows the value.
            todo: A sentence on what the owner can do.
        """
        return UsageError(
            f"{self.word}={self.asked} maps to {self.name} = {self.value}, {why}. Dyno "
            f"never changes the configuration of a server at a URL. {todo} Then run this "
            "again."
        )


@runtime_checkable
class Tunable(Protocol):
    """A target with settings."""

    def tune(self, asked: Sequence[Setting]) -> None:
        """Stores settings before the target is entered. Entering applies and verifies them.

        Leaving the target restores the old values.

        Raises:
            UsageError: If a value is invalid; nothing is changed then.
        """
        ...

    def tuned(self) -> tuple[Applied, ...]:
        """The applied settings, as read back; after leaving, also whether they are restored."""
        ...


@runtime_checkable
class Scoped(Protocol):
    """A target some of whose settings belong to databases."""

    def scope(self, databases: Sequence[str]) -> None:
        """Limits these settings to the databases of the job, by the names of their workloads.

        Called after ``tune``, before the target is entered. Without it, none is changed.
        """
        ...


def not_applied(change: Change, product: str, found: str | None) -> TargetError:
    """The error for a parameter that reads back as ``found`` instead of its new value."""
    has = "lacks it" if found is None else f"has {found}"
    return TargetError(
        f"{change.word}={change.asked} was not applied: Dyno set {change.name} = "
        f"{change.value}, {product} {has}.",
        kind="database",
    )


def knobs(name: str) -> Mapping[str, str]:
    """Portable names that the target ``name`` supports, and its own names for them."""
    return _declared(name, "KNOBS")


def lacks(name: str, word: str) -> str | None:
    """Why the target ``name`` has no setting ``word``, as a sentence without its end; else None."""
    return _declared(name, "LACKS").get(word)


def only_named(name: str) -> str | None:
    """Why Dyno sets nothing at the target ``name`` that the user did not name; None if it may."""
    module = _module(name)
    found: str | None = None if module is None else getattr(module, "ONLY_NAMED", None)
    return found


def require(url: TargetUrl, asked: Sequence[Setting]) -> None:
    """Refuses settings that the target at ``url`` does not support, before it is started.

    Raises:
        UsageError: With the supported names.
    """
    known = knobs(url.name)
    for item in asked:
        if item.word in known:
            continue
        if not known:
            raise UsageError(f"The {url.name} target does not support settings; omit {item.word}.")
        why = lacks(url.name, item.word)
        reason = f": {why}" if why else ""
        hint = nearest(item.word, known)
        hint = f"{hint} " if hint.startswith("Did") else ""
        raise UsageError(
            f"The {url.name} target does not support the setting '{item.word}'{reason}. "
            f"{hint}It has: {', '.join(known)}."
        )


def tune(target: Target, asked: Sequence[Setting], databases: Sequence[str] = ()) -> None:
    """Hands what is asked to a target that is not entered yet.

    Args:
        target: The target.
        asked: The settings.
        databases: The databases that the job uses (see :mod:`dyno.contracts.databases`).

    Raises:
        UsageError: If the target takes no settings, or not these values.
    """
    if not asked:
        return
    if not isinstance(target, Tunable):
        raise UsageError(f"The {target.name} target does not support settings.")
    target.tune(asked)
    if isinstance(target, Scoped):
        target.scope(databases)


def tuned(target: Target) -> tuple[Applied, ...]:
    """What was applied to a target; nothing for one that takes no settings."""
    return target.tuned() if isinstance(target, Tunable) else ()


def _declared(name: str, what: str) -> Mapping[str, str]:
    module = _module(name)
    return {} if module is None else getattr(module, what, {})


def _module(name: str) -> ModuleType | None:
    module = f"dyno.targets.{name}.tuning"
    return None if importlib.util.find_spec(module) is None else importlib.import_module(module)
