"""Errors: work that failed inside the measured time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from dyno.bundle import metrics
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.phases.oltp import Outcome
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

MOST_ERROR_PERCENT = 1.0

_MOST_NAMES = 5


def _check(case: Case) -> Iterable[Ruling]:
    yield from _transactions(case)
    yield from _queries(case)
    yield from _storage(case)


def _storage(case: Case) -> Iterable[Ruling]:
    """Failed I/Os by class, and what to do about those of which there are most."""
    failed = [step for step in case.steps if step.errors]
    if not failed:
        return
    counted: Counter[str] = Counter()
    for step in failed:
        counted.update(step.errors)
    ranked = counted.most_common()
    words = ", ".join(f"{count:,} {kind}" for kind, count in ranked)
    steps = {step.metrics: step.label for step in failed}
    more = f" and {len(steps) - 1} more" if len(steps) > 1 else ""
    phase = case.phase_of(failed[0])
    yield Ruling(
        "invalid",
        f"I/O failed at {len(steps)} point{'s'[: len(steps) > 1]} of the storage profile "
        f"({failed[0].label}{more}): {words}. {_ADVICE.get(ranked[0][0], _ADVICE['io'])}",
        phase.name if phase is not None else "io",
        tuple(load.errors.name for load in steps),
    )


_ADVICE = {
    "io": "Check the device's health and the kernel log.",
    "short_read": "The file was cut while it was read: let nobody else write to it, run again.",
    "short_write": "The volume took part of a write only: free some of it, run again.",
    "disk_full": "The volume, or a quota on it, is full: free some, or give a smaller --size.",
    "gone": "The device or file went away: see the kernel log, its cables, paths and mount.",
    "timed_out": "The device took too long for the kernel: see its log, cables and paths.",
    "out_of_memory": "The kernel had no memory for them: give fewer I/Os in flight, free some.",
    "unaligned": "The device has larger blocks than were asked for: give a multiple of its own.",
}
"""What to do, by class of failed I/O as ``dyno_io::fault`` names them."""


def _transactions(case: Case) -> Iterable[Ruling]:
    for phase, at in case.levels():
        errors = case.value(at.errors)
        percent = case.value(at.error_percent)
        if not errors or percent is None:
            continue
        many = percent > MOST_ERROR_PERCENT
        first = _first_message(phase.detail.outcome)
        yield Ruling(
            "invalid" if many else "warning",
            f"{phase.title}: {errors:,.0f} transactions failed ({percent:.2g} %){first}",
            phase.name,
            (at.errors.name, at.error_percent.name),
        )


def _first_message(outcome: Outcome | None) -> str:
    if outcome is None or not outcome.errors_first:
        return "."
    kind, message = next(iter(outcome.errors_first.items()))
    return f"; the first {kind}: {message}"


def _queries(case: Case) -> Iterable[Ruling]:
    for phase in case.phases_of(DssDetail):
        if phase.detail.test == "during":
            continue  # its failures are those of the maintenance
        several = phase.detail.test == "throughput"
        at = metrics.Queries(phase.target)
        keys = (
            at.throughput_failed if several else at.queries_failed,
            at.refresh_failed("throughput" if several else "power"),
        )
        failed = {key.name: value for key in keys if (value := case.value(key))}
        if not failed:
            continue
        queries, functions = (failed.get(key.name, 0) for key in keys)
        counted = [_counted(queries, "query", "queries")] if queries else []
        if functions:
            counted.append(_counted(functions, "refresh function", "refresh functions"))
        which = _which(phase.detail.errors)
        lost = "No figure is drawn from it." if several else "Its total is left out."
        yield Ruling(
            "invalid",
            f"{' and '.join(counted)} failed on {phase.target}{which}. {lost}",
            phase.name,
            tuple(failed),
        )


def _counted(count: float, one: str, many: str) -> str:
    return f"{count:.0f} {one if count == 1 else many}"


def _which(errors: dict[str, str] | None) -> str:
    """What failed, and why the first did."""
    if not errors:
        return ""
    names = sorted(errors)
    reason = errors[names[0]].rstrip(".")
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f": {', '.join(names[:_MOST_NAMES])}{more} ({reason})"


RULE = Rule(
    code="errors",
    weight=Weight.WRONG,
    definition=(
        f"More than {MOST_ERROR_PERCENT:g} % of the transactions failed (fewer: a warning), a "
        "query failed, or an I/O of a storage profile failed."
    ),
    explanation="Failing is often quick, and what failed was not done.",
    check=_check,
)
