"""Errors: transactions, queries or I/Os failed in the window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from dyno.bundle import metrics
from dyno.bundle.phases.dss import HELD, DssDetail
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
    """Failed I/Os by class, with advice for the most frequent."""
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
    "short_read": "The file was truncated during the read. Stop other writers and run again.",
    "short_write": "The volume accepted part of a write only. Free space and run again.",
    "disk_full": "The volume or a quota is full. Free space, or use a smaller --size.",
    "gone": "The device or file disappeared. Check the kernel log, cables, paths and mount.",
    "timed_out": "The device timed out. Check the kernel log, cables and paths.",
    "out_of_memory": "The kernel ran out of memory. Reduce the queue depth or free memory.",
    "unaligned": "The device's logical block size is larger. Use a multiple of it as block size.",
}
"""Advice by class of failed I/O as ``dyno_io::fault`` names them."""


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
        if phase.detail.test in {"during", HELD}:
            continue  # the rules on maintenance and on mixed load cover them
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
        lost = "The test has no result." if several else "The test has no total."
        yield Ruling(
            "invalid",
            f"{' and '.join(counted)} failed on {phase.target}{which}. {lost}",
            phase.name,
            tuple(failed),
        )


def _counted(count: float, one: str, many: str) -> str:
    return f"{count:.0f} {one if count == 1 else many}"


def _which(errors: dict[str, str] | None) -> str:
    """The names of what failed, and the first error."""
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
        f"More than {MOST_ERROR_PERCENT:g} % of the transactions failed, or a query, refresh "
        "function or I/O failed. Warning: fewer transactions failed."
    ),
    explanation="Failed work is often fast, and was not done.",
    check=_check,
)
