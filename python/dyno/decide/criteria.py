"""Criteria: which limits the levels pass. A limit without data never passes."""

from __future__ import annotations

import time
from collections.abc import Iterable

from dyno.bundle import metrics
from dyno.bundle.model import CriterionResult, Finding, Phase
from dyno.config.units import digits
from dyno.criteria import Criterion, judging, known
from dyno.decide.case import Case


def criteria(case: Case) -> list[Finding]:
    """A finding for each criterion on each completed level."""
    run = case.bundle.run
    return [
        _finding(case, phase, level, criterion)
        for phase, level in _levels(case)
        for criterion in judging(run, phase)
    ]


def result(case: Case, level: str, criterion: Criterion) -> CriterionResult:
    """Evaluates a criterion on a level."""
    unit, factor = known(case.bundle.run)[criterion.metric].units[criterion.unit]
    at = metrics.Criterion(level, criterion)
    value, idle = case.estimate(at.value), case.estimate(at.idle)
    missing = idle or case.estimate(at.missing)
    unjudged = CriterionResult(
        criterion=str(criterion),
        source=criterion.source,
        level=level,
        binding=criterion.binding,
        passed=None,
        idle=idle is not None,
        unit=unit,
        reason=missing.source if missing is not None else "the level has no metrics",
    )
    if value is None:
        return unjudged
    worst_t_ns = case.value(at.worst_t_ns)
    return CriterionResult(
        criterion=unjudged.criterion,
        source=criterion.source,
        level=level,
        binding=criterion.binding,
        unit=unit,
        passed=criterion.holds(value.value, factor),
        value=value.value,
        worst=case.value(at.worst),
        worst_t_ns=None if worst_t_ns is None else round(worst_t_ns),
        failing=round(case.value(at.failing) or 0),
        intervals=round(case.value(at.intervals) or 0),
        note=value.source,
    )


def _levels(case: Case) -> Iterable[tuple[Phase, str]]:
    return [
        (phase, str(phase.detail.level)) for phase, _ in case.judged() if phase.status == "done"
    ]


def _finding(case: Case, phase: Phase, level: str, criterion: Criterion) -> Finding:
    found = result(case, level, criterion)
    at = metrics.Criterion(level, criterion)
    key = at.value if found.passed is not None else at.idle if found.idle else at.missing
    return Finding(
        code="criterion",
        level="criterion",
        message=f"{phase.title}: {words(found)}",
        phase=phase.name,
        evidence=(key.name,),
        result=found,
    )


def words(found: CriterionResult) -> str:
    """A result as a sentence."""
    limit = found.criterion if found.binding else f"default limit {found.criterion}"
    if found.passed is None or found.value is None:
        return f"{limit} not evaluated: {found.reason}."
    unit = f" {found.unit}".rstrip()
    broken = "FAILED" if found.binding else "failed"
    text = f"{limit} {'passed' if found.passed else broken}: "
    text += f"{digits(found.value)}{unit}"
    if found.worst is not None and found.worst_t_ns is not None:
        text += f"; worst interval {digits(found.worst)}{unit} at {moment(found.worst_t_ns)}"
    if found.failing:
        text += f", violated in {found.failing} of {found.intervals} intervals"
    return f"{text}."


def moment(t_ns: int) -> str:
    """The time of day, UTC."""
    try:
        return time.strftime("%H:%M:%S UTC", time.gmtime(t_ns / 1e9))
    except (OverflowError, OSError, ValueError):
        return "an unknown time"
