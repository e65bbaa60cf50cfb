"""Errors: work that failed inside the measured time."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

MOST_ERROR_PERCENT = 1.0

_MOST_NAMES = 5

_IO_ERRORS = re.compile(r"io\..*\.qd\d+\.errors")


def _check(case: Case) -> Iterable[Ruling]:
    yield from _transactions(case)
    yield from _queries(case)
    failed = [
        figure.name
        for figure in case.estimates
        if figure.value > 0 and _IO_ERRORS.fullmatch(figure.name)
    ]
    if failed:
        yield Ruling(
            "invalid",
            f"I/O failed at {len(failed)} point{'s'[: len(failed) > 1]} of the storage profile. "
            "Check the device's health and the kernel log.",
            "io",
            tuple(failed),
        )


def _transactions(case: Case) -> Iterable[Ruling]:
    for phase, name in case.levels():
        errors = case.value(f"{name}.errors")
        percent = case.value(f"{name}.error_percent")
        if not errors or percent is None:
            continue
        many = percent > MOST_ERROR_PERCENT
        first = _first_message(phase.detail)
        yield Ruling(
            "invalid" if many else "warning",
            f"{phase.title}: {errors:,.0f} transactions failed ({percent:.2g} %){first}",
            phase.name,
            (f"{name}.errors", f"{name}.error_percent"),
        )


def _first_message(detail: dict[str, object]) -> str:
    outcome = detail.get("outcome")
    messages = outcome.get("errors_first") if isinstance(outcome, dict) else None
    if not isinstance(messages, dict) or not messages:
        return "."
    kind, message = next(iter(messages.items()))
    return f"; the first {kind}: {message}"


def _queries(case: Case) -> Iterable[Ruling]:
    for phase in case.phases("dss"):
        if phase.detail.get("test") == "during":
            continue  # its failures are those of the maintenance
        several = phase.detail.get("test") == "throughput"
        start = f"dss.{phase.target}"
        names = (
            f"{start}.{'throughput_failed' if several else 'queries_failed'}",
            f"{start}.{'throughput' if several else 'power'}_refresh_failed",
        )
        failed = {name: value for name in names if (value := case.value(name))}
        if not failed:
            continue
        queries, functions = (failed.get(name, 0) for name in names)
        counted = [_counted(queries, "query", "queries")] if queries else []
        if functions:
            counted.append(_counted(functions, "refresh function", "refresh functions"))
        lost = "No figure is drawn from it." if several else "Its total is left out."
        yield Ruling(
            "invalid",
            f"{' and '.join(counted)} failed on {phase.target}{_which(phase.detail)}. {lost}",
            phase.name,
            tuple(failed),
        )


def _counted(count: float, one: str, many: str) -> str:
    return f"{count:.0f} {one if count == 1 else many}"


def _which(detail: dict[str, object]) -> str:
    """What failed, and why the first did."""
    errors = detail.get("errors")
    if not isinstance(errors, dict) or not errors:
        return ""
    names = sorted(map(str, errors))
    reason = str(errors.get(names[0], "")).rstrip(".")
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f": {', '.join(names[:_MOST_NAMES])}{more} ({reason})"


RULE = Rule(
    code="errors",
    weight=Weight.WRONG,
    definition=(
        f"More than {MOST_ERROR_PERCENT:g} % of the transactions failed (fewer: a warning), a "
        "query failed, or I/O failed."
    ),
    explanation="Failing is often quick, and what failed was not done.",
    check=_check,
)
