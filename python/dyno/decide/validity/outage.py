"""Outage: users lost the server while they were measured, or it stood still."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle import metrics
from dyno.bundle.model import Phase
from dyno.bundle.stalls import FEWEST_EXPECTED
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight


def _check(case: Case) -> Iterable[Ruling]:
    for phase, at in case.levels():
        if phase.status == "done":
            yield from _level(case, phase, at)


def _level(case: Case, phase: Phase, at: metrics.Level) -> Iterable[Ruling]:
    keys = (at.connections_lost, at.reconnects, at.gone, at.stuck, at.silent_s)
    lost, back, gone, stuck, silent_s = (case.value(key) or 0.0 for key in keys)
    broken = bool(lost or back or gone or stuck)
    if not broken and (case.value(at.silence_expected) or 0.0) < FEWEST_EXPECTED:
        return
    seen: list[str] = []
    if lost or back:
        seen.append(f"users lost the server {lost:,.0f} times and came back {back:,.0f} times")
    if gone:
        seen.append(f"{gone:,.0f} had no connection at the end")
    if stuck:
        seen.append(f"{stuck:,.0f} transactions had not ended 5 s after the window")
    if silent_s:
        seen.append(f"for {silent_s:g} s no transaction ended")
    if seen:
        yield Ruling(
            "invalid" if gone or (broken and silent_s) else "warning",
            f"{phase.title}: {_joined(seen)}. {_ADVICE}",
            phase.name,
            tuple(key.name for key in keys),
        )


_ADVICE = "Look into the server's log and at the network, then run again."


def _joined(parts: list[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]


RULE = Rule(
    code="outage",
    weight=Weight.WRONG,
    definition=(
        "Users lost the server, or transactions hung, and for whole intervals none ended though "
        "some were due; or users were gone at the end. One of these without the others is a "
        f"warning: silence alone where at least {FEWEST_EXPECTED:g} transactions were to be "
        "expected in a row of intervals."
    ),
    explanation="Throughput with a gap in it is neither that of the server nor of the fault.",
    check=_check,
)
