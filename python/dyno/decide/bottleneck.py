"""The bottleneck of each measured phase, as far as one run can identify it."""

from __future__ import annotations

from dataclasses import dataclass

from dyno.bundle.model import Finding, Phase
from dyno.decide.case import Case
from dyno.decide.limits import rules
from dyno.decide.limits.cpu import busy_words
from dyno.decide.view import FEWEST_SAMPLES, Limit, View, is_watched, view

_KINDS = ("load", "index", "dss", "oltp")


@dataclass(frozen=True)
class Bottleneck:
    """The bottleneck of a phase, or why none was identified.

    Attributes:
        limit: None if none was identified.
        reason: Why none was identified.
    """

    phase: Phase
    code: str
    limit: Limit | None
    reason: str = ""

    def finding(self) -> Finding:
        """A note for the bundle."""
        if self.limit is None:
            return Finding(
                code="limit-unattributed",
                level="note",
                message=f"{self.phase.title}: bottleneck not identified. {self.reason}",
                phase=self.phase.name,
            )
        return Finding(
            code=f"limit-{self.code}",
            level="note",
            message=(
                f"{self.phase.title}: likely bottleneck: {self.limit.resource} "
                f"(not verified by changing it): {self.limit.facts}."
            ),
            phase=self.phase.name,
            evidence=self.limit.evidence,
        )


def bottlenecks(case: Case) -> list[Bottleneck]:
    """The bottleneck of every completed phase except storage profiles.

    The most utilised resource wins.
    """
    return [_of(view(case, phase)) for phase in case.phases(*_KINDS) if phase.status == "done"]


def _of(seen: View) -> Bottleneck:
    weighed = [(rule.code, rule.weigh(seen)) for rule in rules()]
    found = [(code, limit) for code, limit in weighed if limit is not None]
    if not seen.observed:
        # The target's machine was not sampled: this machine's metrics describe the driver only.
        found = [(code, limit) for code, limit in found if code == "client"]
    if found:
        code, limit = max(found, key=lambda item: item[1].share)
        return Bottleneck(seen.phase, code, limit)
    return Bottleneck(seen.phase, "unattributed", None, _why_not(seen))


def _why_not(seen: View) -> str:
    if not is_watched(seen.case, seen.phase.target):
        return "The server's machine was not monitored."
    if not seen.observed:
        return f"The phase has fewer than {FEWEST_SAMPLES} one-second samples."
    facts: list[str] = []
    if seen.busy is not None:
        facts.append(f"CPU was {busy_words(seen)}")
    devices = seen.devices()
    if devices:
        facts.append(f"{devices[0].name} {devices[0].utilisation:.0f} % utilised")
    return f"{', '.join(facts)}: no resource was saturated." if facts else "No samples."
