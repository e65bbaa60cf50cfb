"""Best practices: rules that are checked on the system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from dyno.decide.advise.amounts import stopped
from dyno.decide.advise.practices import rules
from dyno.decide.advise.rule import AREAS, OUTCOMES, SEVERITIES, Rule, Verdict
from dyno.decide.advise.section import Asked, Kind, Section, Table, Variant
from dyno.decide.advise.system import System

_PRIVATE = (
    "Dyno sets the parameters of a private engine at each start: change them with --set, and its "
    "volumes with a layout."
)


class Judged(NamedTuple):
    """A rule and what it says of one thing."""

    rule: Rule
    verdict: Verdict


def judged(system: System, among: Sequence[Rule] | None = None) -> list[Judged]:
    """The verdicts of all rules that apply to a system, the most severe first."""
    found = [
        Judged(rule, verdict)
        for rule in (rules() if among is None else among)
        if rule.scope == "database" or system.machine
        for verdict in rule.judge(system)
    ]
    return sorted(found, key=_rank)


def _rank(one: Judged) -> tuple[int, int, int, str]:
    return (
        OUTCOMES.index(one.verdict.outcome),
        SEVERITIES.index(one.rule.severity),
        AREAS.index(one.rule.area),
        one.rule.name,
    )


def _advise(system: System, asked: Asked) -> Section:
    found = judged(system)
    counts = Counter(one.verdict.outcome for one in found)
    said = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])
    shown = [one for one in found if asked.every or one.verdict.outcome == "violated"]
    violated = [one for one in found if one.verdict.outcome == "violated"]
    blind = [one for one in found if one.verdict.outcome == "not readable"]
    closing = [f"{len({one.rule.name for one in found})} rules: {said}."]
    if blind and not asked.every:
        reasons = Counter(one.verdict.reason for one in blind)
        closing += [
            f"Not readable ({count} rule{'s' * (count > 1)}): {stopped(reason)}"
            for reason, count in reasons.most_common(5)
        ]
    if system.database is not None and system.database.private:
        closing.append(_PRIVATE)
    return Section(
        "Best practices",
        tables=[_table(shown, every=asked.every)] if shown else [],
        commands={_named(one): one.verdict.commands for one in violated if one.verdict.commands},
        closing=closing,
        document=[document(one) for one in found],
        violated=[one.rule.name for one in violated],
        variants=[
            Variant(one.rule.name, one.verdict.changes, one.rule.why)
            for one in violated
            if one.verdict.changes
        ],
    )


def _named(one: Judged) -> str:
    return f"{one.rule.name}: {one.verdict.subject}" if one.verdict.subject else one.rule.name


def _table(shown: Sequence[Judged], *, every: bool) -> Table:
    rows = [
        (
            one.rule.severity if one.verdict.outcome == "violated" else one.verdict.outcome,
            one.rule.area,
            one.rule.name,
            ": ".join(filter(None, (one.verdict.subject, one.verdict.found or one.verdict.reason))),
            one.verdict.wanted,
        )
        for one in shown
    ]
    columns = ("Outcome" if every else "Severity", "Area", "Rule", "Found", "Wanted")
    marks = [
        one.rule.severity if one.verdict.outcome == "violated" else one.verdict.outcome
        for one in shown
    ]
    return Table(columns, rows, marks=marks)


def document(one: Judged) -> dict[str, Any]:
    """A verdict with its rule, for JSON."""
    rule = {name: value for name, value in vars(one.rule).items() if name != "check"}
    return {**rule, "study": one.rule.study or None, **asdict(one.verdict)}


KIND = Kind("practices", 20, _advise)
