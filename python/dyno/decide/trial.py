"""One window of a search for the maximum, judged as soon as it has ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dyno.bundle import metrics
from dyno.bundle.model import CriterionResult, Phase
from dyno.bundle.phases.oltp import OltpDetail
from dyno.config.units import digits
from dyno.criteria import Criterion
from dyno.decide.case import Case
from dyno.decide.criteria import result
from dyno.decide.validity.client_bound import signs
from dyno.decide.validity.unsteady import drift

MOST_ERRORS_PERCENT = 1.0
LEAST_CARRIED_PERCENT = 98.0
"""Of what was due. A window is short: what is over capacity has hardly queued up when it ends."""


@dataclass(frozen=True)
class Judged:
    """What a window came to.

    Attributes:
        results: Each limit against it.
        unsteady: How its throughput was not steady; empty if it was, or cannot be told.
        client_bound: What shows that the driver set the pace; empty if nothing does.
        strict: Whether a limit that cannot be judged counts as broken. One where nothing happened
            that it limits, as where no read reached the volume, counts neither way.
        failing: What breaks every limit: a load that was not carried, or whose transactions fail.
    """

    results: tuple[CriterionResult, ...]
    unsteady: str
    client_bound: str
    strict: bool
    failing: str = ""

    @property
    def passed(self) -> bool:
        """Whether the load was carried and no limit speaks against it.

        Limits of the user's own are kept where nothing happened that they limit; of the usual ones
        one at least must have been judged.
        """
        if self.failing:
            return False
        if self.strict:
            return all(item.passed or item.idle for item in self.results)
        kept = [item.passed for item in self.results if item.passed is not None]
        return bool(kept) and all(kept)

    @property
    def unjudged(self) -> list[CriterionResult]:
        """Limits without data, though what they limit happened or may have."""
        return [item for item in self.results if item.passed is None and not item.idle]

    @property
    def idle(self) -> list[CriterionResult]:
        """Limits on what did not happen."""
        return [item for item in self.results if item.idle]

    def words(self) -> str:
        """A few words for a line: what broke, or what came nearest."""
        broken = [item for item in self.results if item.passed is False] or list(self.results)
        parts = [
            f"{item.criterion.split(' ')[0]} {digits(item.value)} {item.unit}".rstrip()
            for item in broken
            if item.value is not None
        ]
        parts = [self.failing, *parts] if self.failing else parts
        if self.strict:
            parts += [f"{item.criterion} not judged: {item.reason}" for item in self.idle]
        parts += [f"not steady ({self.unsteady})"] if self.unsteady else []
        parts += ["the driver was the bottleneck"] if self.client_bound else []
        return ", ".join(parts)


def trial(case: Case, level: str, limits: Sequence[Criterion], *, strict: bool) -> Judged:
    """Judges the level of a run that goes on, from figures drawn of it alone."""
    at = metrics.Level(level)
    phase = next(one for one in case.phases_of(OltpDetail) if one.detail.level == level)
    seen = drift(case, at)
    return Judged(
        tuple(result(case, level, limit) for limit in limits),
        seen.words if seen is not None and seen.level == "invalid" else "",
        ", ".join(signs(case, phase, at).values()),
        strict,
        failing(case, at) or _still(case, phase, at),
    )


def _still(case: Case, phase: Phase[OltpDetail], at: metrics.Level) -> str:
    """That nothing ended, of users who do not think for longer than a window may last."""
    thinks = phase.detail.thinks is True
    return "no transaction ended" if case.value(at.transactions) == 0 and not thinks else ""


def failing(case: Case, at: metrics.Level) -> str:
    """Why no limit can be kept at this load; empty if nothing stands against it."""
    errors = case.value(at.error_percent) or 0.0
    if errors > MOST_ERRORS_PERCENT:
        return f"{errors:.1f} % of the transactions failed"
    scheduled = case.value(at.scheduled)
    if not scheduled:
        return ""
    unsent = case.value(at.unsent) or 0.0
    ended = (case.value(at.transactions) or 0.0) + (case.value(at.errors) or 0.0)
    carried = min(scheduled - unsent, ended) / scheduled * 100
    return f"{carried:.1f} % of the rate was carried" if carried < LEAST_CARRIED_PERCENT else ""
