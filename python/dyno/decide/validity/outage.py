"""Outage: users lost the connection in the window, or the server stalled."""

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
        seen.append(f"users lost {lost:,.0f} connections and reconnected {back:,.0f} times")
    if gone:
        seen.append(f"{gone:,.0f} had no connection at the end")
    if stuck:
        seen.append(f"{stuck:,.0f} transactions had not ended 5 s after the window")
    if silent_s:
        seen.append(f"no transaction ended for {silent_s:g} s")
    if seen:
        yield Ruling(
            "invalid" if gone or (broken and silent_s) else "warning",
            f"{phase.title}: {_joined(seen)}. {_ADVICE}",
            phase.name,
            tuple(key.name for key in keys),
        )


_ADVICE = "Check the server's log and the network, then run again."


def _joined(parts: list[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]


RULE = Rule(
    code="outage",
    weight=Weight.WRONG,
    definition=(
        "Connections were lost or transactions hung, and no transaction ended in whole intervals; "
        "or users had no connection at the end. Warning: lost connections or hung transactions "
        f"alone, or a stall alone in which at least {FEWEST_EXPECTED:g} transactions were expected."
    ),
    explanation="Throughput across an outage describes neither normal work nor the outage.",
    check=_check,
)
