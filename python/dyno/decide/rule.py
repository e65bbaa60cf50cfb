"""What a rule on validity is. Each lives in a file of its own under ``validity`` as ``RULE``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from dyno.decide.case import Case


class Weight(IntEnum):
    """What a rule is about; the reasons of a run are told in this order."""

    WRONG = 1
    """Work failed, or gave what it should not."""
    INCOMPLETE = 2
    """Part of the work is missing."""
    DOUBTFUL = 3
    """The work was done; how it was measured is in doubt."""


@dataclass(frozen=True)
class Ruling:
    """What a rule found.

    Attributes:
        level: ``invalid`` spoils the run; ``disturbed`` says that the environment was not quiet
            (``dyno.bundle.model.Outcome``); ``warning`` may spoil a value; a ``note`` only says how
            to read a value.
        message: One line for a person: what was seen and what to change.
        evidence: Names of estimates, or short facts.
    """

    level: Literal["invalid", "disturbed", "warning", "note"]
    message: str
    phase: str | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rule:
    """A condition under which figures may not be believed.

    Attributes:
        code: Its name in the bundle.
        weight: What it is about: heavier reasons are told first.
        definition: When it holds, with the limits.
        explanation: Why such figures mislead.
        check: Its findings on a case.
    """

    code: str
    weight: Weight
    definition: str
    explanation: str
    check: Callable[[Case], Iterable[Ruling]]
