"""Best practices and their verdicts. Each file under ``practices`` defines a ``RULE``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from dyno.decide.advise.system import GapError, System

Outcome = Literal["violated", "fulfilled", "not applicable", "not readable"]
OUTCOMES: tuple[Outcome, ...] = ("violated", "not readable", "fulfilled", "not applicable")
"""In the order in which they are listed."""

Severity = Literal["high", "medium", "low"]
"""What is at stake. ``high``: data, or most of the performance. ``medium``: performance that users
notice. ``low``: a few percent, or a matter of care."""
SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low")

Area = Literal["durability", "memory", "cpu", "storage", "network", "log", "plans", "care"]
AREAS: tuple[Area, ...] = (
    *("durability", "memory", "cpu", "storage", "network"),
    *("log", "plans", "care"),
)

T = TypeVar("T")


@dataclass(frozen=True)
class Verdict:
    """What a rule says of one thing.

    Attributes:
        found: The value with its unit.
        wanted: What it should be, with the unit.
        commands: What mends it, in the words of the system; Dyno never runs them.
        reason: Why the rule does not apply, or cannot be read and what is missing; a clause.
        subject: The thing, if a rule looks at several: a volume, an interface, a table.
        changes: What a study changes to test it, by path; empty if no study can.
    """

    outcome: Outcome
    found: str = ""
    wanted: str = ""
    commands: tuple[str, ...] = ()
    reason: str = ""
    subject: str = ""
    changes: Mapping[str, str] = field(default_factory=dict[str, str])

    def of(self, subject: str) -> Verdict:
        """The same about ``subject``."""
        return replace(self, subject=subject)


@dataclass(frozen=True)
class Rule:
    """A best practice.

    Attributes:
        name: Its name on the command line; the file's, with hyphens.
        area: What it is about.
        scope: Of what it is judged once: the machine, or each database with its volumes.
        looks_at: What it reads.
        wants: The condition, with its thresholds.
        why: What it costs to ignore it.
        source: Where it comes from.
        study: The shipped study that measures it here; empty if there is none.
        check: Judges a system. It raises :class:`GapError` for what cannot be judged.
    """

    name: str
    area: Area
    scope: Literal["machine", "database"]
    severity: Severity
    looks_at: str
    wants: str
    why: str
    source: str
    check: Callable[[System], Iterable[Verdict]]
    study: str = ""

    def judge(self, system: System) -> list[Verdict]:
        """Its verdicts on a system; at least one."""
        found: list[Verdict] = []
        try:
            found += self.check(system)
        except GapError as gap:
            found.append(gapped(gap))
        return found or [Verdict("not applicable", reason="there is nothing of the kind")]


def held(ok: bool, found: str, wanted: str, *commands: str) -> Verdict:
    """``fulfilled`` or ``violated``; the commands belong to the violation."""
    if ok:
        return Verdict("fulfilled", found, wanted)
    return Verdict("violated", found, wanted, tuple(commands))


def tested(verdict: Verdict, changes: Mapping[str, str]) -> Verdict:
    """A verdict whose violation a study can test with ``changes``, by path."""
    return replace(verdict, changes=changes) if verdict.outcome == "violated" else verdict


def gapped(gap: GapError) -> Verdict:
    """The verdict of a rule that cannot judge."""
    return Verdict(gap.outcome, reason=gap.reason)


def each(
    things: Iterable[T], name: Callable[[T], str], judge: Callable[[T], Verdict]
) -> Iterator[Verdict]:
    """A verdict on each thing; one that cannot be judged keeps no other from it."""
    for thing in things:
        try:
            yield judge(thing).of(name(thing))
        except GapError as gap:
            yield gapped(gap).of(name(thing))
