"""How a target takes settings in neutral words.

A target that takes any has a module ``targets/<name>/tuning.py`` with ``KNOBS`` (word → the
target's own name for it) and may have ``LACKS`` (word → why it has none), and implements
:class:`Tunable`. One without such a module takes none.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from dyno.bundle.model import Applied
from dyno.config.settings import Setting
from dyno.contracts.target import Target, TargetUrl
from dyno.errors import TargetError, UsageError, nearest


@dataclass(frozen=True)
class Change:
    """One parameter of a server, as it shall be.

    Attributes:
        value: As the server takes it.
        amount: The same as a number, in bytes, seconds or a count; None for a word or a path.
    """

    word: str
    asked: str
    name: str
    value: str
    amount: int | None = None
    note: str = ""

    def applied(self, found: str, before: str, how: str, note: str) -> Applied:
        """It, once the live system says ``found``; see :class:`dyno.bundle.model.Applied`."""
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
        """The error for a server that has no such parameter."""
        return UsageError(f"{self.word}={self.asked}: {server} has no {self.name}.")

    def left_to_owner(self, why: str, todo: str) -> UsageError:
        """The error for a parameter that only the owner of a server may change.

        Args:
            why: A few words, which go on from its value.
            todo: A sentence on what the owner can do.
        """
        return UsageError(
            f"{self.word}={self.asked} maps to {self.name} = {self.value}, {why}. Dyno "
            f"never changes the configuration of a server at a URL. {todo} Then run this "
            "again."
        )


@runtime_checkable
class Tunable(Protocol):
    """A target whose settings can be changed for a run."""

    def tune(self, asked: Sequence[Setting]) -> None:
        """Takes what is asked, before the target is entered: entering applies and verifies it.

        Leaving the target restores what was changed.

        Raises:
            UsageError: If a value cannot be; nothing has been touched.
        """
        ...

    def tuned(self) -> tuple[Applied, ...]:
        """What was applied, as read back; after leaving the target also whether it is restored."""
        ...


def not_applied(change: Change, product: str, found: str | None) -> TargetError:
    """The error for a parameter that reads back as ``found``, and not as it was given."""
    has = "lacks it" if found is None else f"has {found}"
    return TargetError(
        f"{change.word}={change.asked} was not applied: Dyno set {change.name} = "
        f"{change.value}, {product} {has}.",
        kind="database",
    )


def knobs(name: str) -> Mapping[str, str]:
    """Words that the target ``name`` takes, and its own names for them."""
    return _declared(name, "KNOBS")


def require(url: TargetUrl, asked: Sequence[Setting]) -> None:
    """Refuses words that the target at ``url`` lacks, before anything is started.

    Raises:
        UsageError: Naming the words that it has.
    """
    known = knobs(url.name)
    for item in asked:
        if item.word in known:
            continue
        if not known:
            raise UsageError(f"The {url.name} target does not support settings; omit {item.word}.")
        why = _declared(url.name, "LACKS").get(item.word)
        reason = f": {why}" if why else ""
        hint = nearest(item.word, known)
        hint = f"{hint} " if hint.startswith("Did") else ""
        raise UsageError(
            f"The {url.name} target does not support the setting '{item.word}'{reason}. "
            f"{hint}It has: {', '.join(known)}."
        )


def tune(target: Target, asked: Sequence[Setting]) -> None:
    """Hands what is asked to a target that is not entered yet.

    Raises:
        UsageError: If the target takes no settings, or not these values.
    """
    if not asked:
        return
    if not isinstance(target, Tunable):
        raise UsageError(f"The {target.name} target does not support settings.")
    target.tune(asked)


def tuned(target: Target) -> tuple[Applied, ...]:
    """What was applied to a target; nothing for one that takes no settings."""
    return target.tuned() if isinstance(target, Tunable) else ()


def _declared(name: str, what: str) -> Mapping[str, str]:
    module = f"dyno.targets.{name}.tuning"
    if importlib.util.find_spec(module) is None:
        return {}
    return getattr(importlib.import_module(module), what, {})
