"""Judges one window of a search for the maximum as soon as it ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from dyno.bundle import metrics
from dyno.bundle.model import CriterionResult, Phase
from dyno.bundle.phases.oltp import OltpDetail
from dyno.config.units import digits
from dyno.criteria import Criterion, known
from dyno.decide.case import Case
from dyno.decide.criteria import result
from dyno.decide.validity import lost_work, other_mix
from dyno.decide.validity.client_bound import signs
from dyno.decide.validity.unsteady import drift
from dyno.decide.validity.workload_behind import MOST_MS

MOST_ERRORS_PERCENT = 1.0
LEAST_CARRIED_PERCENT = 98.0
"""Of the scheduled transactions. Windows are short, so an overload builds only a short queue."""


@dataclass(frozen=True)
class Judged:
    """The result of a window.

    Attributes:
        results: The result of each limit.
        unsteady: How throughput drifted; empty if steady or unknown.
        client_bound: Evidence that the driver was the bottleneck; empty if none.
        strict: Whether a limit that cannot be evaluated counts as failed. A limit without events,
            such as reads when none reached the volume, counts neither way.
        failing: Why the window fails whatever the limits: rate not sustained, or transactions
            failed.
        doubtful: Why a run with this window would not be valid although its limits may pass: work
            that the workload schedules itself was late, or the mix was another one.
    """

    results: tuple[CriterionResult, ...]
    unsteady: str
    client_bound: str
    strict: bool
    failing: str = ""
    doubtful: str = ""

    @property
    def inconclusive(self) -> bool:
        """Whether the window is to be repeated: a run with it would not be valid.

        A window whose limits fail is not accepted anyway.
        """
        return bool(self.unsteady) or (bool(self.doubtful) and self.kept)

    @property
    def passed(self) -> bool:
        """Whether the window counts for its load: the limits were kept, without doubt."""
        return self.kept and not self.doubtful

    @property
    def kept(self) -> bool:
        """Whether the load was sustained and no limit failed.

        The user's own limits pass if no event occurred; of the default limits at least one must
        have been evaluated.
        """
        if self.failing:
            return False
        if self.strict:
            return all(item.passed or item.idle for item in self.results)
        kept = [item.passed for item in self.results if item.passed is not None]
        return bool(kept) and all(kept)

    @property
    def unjudged(self) -> list[CriterionResult]:
        """Limits without data, although events occurred or may have."""
        return [item for item in self.results if item.passed is None and not item.idle]

    @property
    def idle(self) -> list[CriterionResult]:
        """Limits without events."""
        return [item for item in self.results if item.idle]

    def words(self) -> str:
        """A summary for one line: the limits that failed, or else all."""
        broken = [item for item in self.results if item.passed is False] or list(self.results)
        parts = [
            f"{item.criterion.split(' ')[0]} {digits(item.value)} {item.unit}".rstrip()
            for item in broken
            if item.value is not None
        ]
        parts = [self.failing, *parts] if self.failing else parts
        if self.strict:
            parts += [f"{item.criterion} not evaluated: {item.reason}" for item in self.idle]
        parts += [f"unsteady ({self.unsteady})"] if self.unsteady else []
        parts += [self.doubtful] if self.doubtful else []
        parts += ["the driver was the bottleneck"] if self.client_bound else []
        return ", ".join(parts)


def trial(case: Case, level: str, limits: Sequence[Criterion], *, strict: bool) -> Judged:
    """Judges one level of a run in progress from its own estimates."""
    at = metrics.Level(level)
    phase = next(one for one in case.phases_of(OltpDetail) if one.detail.level == level)
    seen = drift(case, at)
    return Judged(
        tuple(result(case, level, limit) for limit in limits),
        seen.words if seen is not None and seen.level == "invalid" else "",
        ", ".join(signs(case, phase, at).values()),
        strict,
        failing(case, at) or _lost(case, phase, at) or _still(case, phase, at),
        _behind(case, at) or _mix(case, phase, at),
    )


def in_each(
    judged: Judged, databases: Iterable[tuple[Case, str]], limits: Sequence[Criterion]
) -> Judged:
    """Adds what one of several databases fails by itself, which their sum may hide.

    Args:
        judged: The result of the sum.
        databases: The case and the level of each database.
        limits: Those of the search; the ones on response times hold in each database.
    """
    for case, level in databases:
        words, at = known(case.bundle.run), metrics.Level(level)
        responses = [limit for limit in limits if words[limit.metric].responses]
        results = [result(case, level, limit) for limit in responses]
        failed = tuple(one for one in results if one.passed is False)
        phase = next(one for one in case.phases_of(OltpDetail) if one.detail.level == level)
        still = _still(case, phase, at)
        judged = replace(
            judged,
            results=(*judged.results, *failed),
            failing=judged.failing or (f"{still} in {level}" if still else ""),
        )
    return judged


def _behind(case: Case, at: metrics.Level) -> str:
    """Reports that the work which the workload schedules itself was too late."""
    behind_ms = case.value(at.behind_ms) or 0.0
    return f"its own work {behind_ms / 1000:.1f} s late" if behind_ms > MOST_MS else ""


def _mix(case: Case, phase: Phase[OltpDetail], at: metrics.Level) -> str:
    """Reports that the transactions had other shares than the workload prescribes."""
    found = other_mix.of_level(case, phase, at)
    return "another mix" if found is not None and found.level == "invalid" else ""


def _lost(case: Case, phase: Phase[OltpDetail], at: metrics.Level) -> str:
    """Reports that too much of the work which the workload schedules itself was lost."""
    found = lost_work.of_level(case, phase, at)
    return "orders were lost" if found is not None and found.level == "invalid" else ""


def _still(case: Case, phase: Phase[OltpDetail], at: metrics.Level) -> str:
    """Reports that no transaction completed, unless users have think times."""
    thinks = phase.detail.thinks is True
    return "no transaction ended" if case.value(at.transactions) == 0 and not thinks else ""


def failing(case: Case, at: metrics.Level) -> str:
    """Why the load fails whatever the limits; empty if it does not.

    A search never waits for steadiness, so all counts are of the same time.
    """
    errors = case.value(at.error_percent) or 0.0
    if errors > MOST_ERRORS_PERCENT:
        return f"{errors:.1f} % of the transactions failed"
    scheduled = case.value(at.scheduled)
    if not scheduled:
        return ""
    unsent = case.value(at.unsent) or 0.0
    ended = (case.value(at.transactions) or 0.0) + (case.value(at.errors) or 0.0)
    carried = min(scheduled - unsent, ended) / scheduled * 100
    return f"{carried:.1f} % of the rate sustained" if carried < LEAST_CARRIED_PERCENT else ""
