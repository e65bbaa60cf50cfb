"""Validity rules. Each file under ``validity`` defines one as ``RULE``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from dyno.decide.case import Case


class Weight(IntEnum):
    """The kind of problem; reasons are listed in this order."""

    WRONG = 1
    """Work failed, or returned wrong results."""
    INCOMPLETE = 2
    """Part of the work is missing."""
    DOUBTFUL = 3
    """The work completed; the measurement is in doubt."""


@dataclass(frozen=True)
class Ruling:
    """What a rule found.

    Attributes:
        level: ``invalid``: results are wrong; ``disturbed``: the environment was not quiet
            (``dyno.bundle.model.Outcome``); ``warning``: a value may be wrong; ``note``: how to
            interpret a value.
        message: One line: what was observed and what to change.
        evidence: Names of estimates, or short facts.
    """

    level: Literal["invalid", "disturbed", "warning", "note"]
    message: str
    phase: str | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rule:
    """A condition that makes results untrustworthy.

    Attributes:
        code: Its name in the bundle.
        weight: Its kind; sets the order of reasons.
        definition: The condition, with its thresholds.
        explanation: Why such results mislead.
        check: Returns its findings on a case.
    """

    code: str
    weight: Weight
    definition: str
    explanation: str
    check: Callable[[Case], Iterable[Ruling]]
