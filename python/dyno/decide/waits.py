"""What the active sessions of a phase waited for, as evidence for a bottleneck."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyno.bundle import metrics
from dyno.bundle.inside import SESSIONS, WAIT_CLASSES, WaitClass

if TYPE_CHECKING:
    from dyno.bundle.metrics import Resources
    from dyno.bundle.metrics.base import Estimates

LEAST_SHARE = 0.3
"""Share of the sessions' time that a class of waits must have to be a possible bottleneck."""

_CLASSES: dict[str, WaitClass] = {one: one for one in WAIT_CLASSES}


@dataclass(frozen=True)
class Waits:
    """Average active sessions of a phase.

    Attributes:
        sessions: By wait class and event.
        names: The estimates behind each class.
        concurrency: Sessions whose time is divided: those that were always in a statement or
            between two, or the average active ones if there were more.
    """

    sessions: Mapping[WaitClass, Mapping[str, float]]
    names: Mapping[WaitClass, tuple[str, ...]]
    concurrency: float

    @property
    def active(self) -> float:
        """Average active sessions."""
        return sum(self.of(one) for one in self.sessions)

    def of(self, wait: WaitClass) -> float:
        """Average active sessions in a class."""
        return sum(self.sessions.get(wait, {}).values())

    def share(self, wait: WaitClass) -> float:
        """Share of the sessions' time in a class, 0 to 1."""
        return self.of(wait) / self.concurrency

    @property
    def outside(self) -> float:
        """Share of the sessions' time in which they were not active in the database, 0 to 1."""
        return 1 - self.active / self.concurrency

    def words(self, wait: WaitClass) -> str:
        """``61 % of 7.2 active sessions wait in WALSync``, with the events that dominate."""
        events = self.sessions.get(wait, {})
        whole, active = self.of(wait), self.active
        if not active > 0:
            return "no session was active"
        if wait == "cpu":
            return f"{100 * whole / active:.0f} % of {active:.1f} active sessions run"
        longest = sorted(events, key=lambda event: -events[event])
        named = [event for event in longest if events[event] >= 0.2 * whole][:2]
        return (
            f"{100 * whole / active:.0f} % of {active:.1f} active sessions wait in "
            f"{' and '.join(named)}"
        )

    @property
    def largest(self) -> WaitClass:
        """The class with most sessions."""
        return max(self.sessions, key=self.of)


def waits(
    known: Estimates, at: Resources, target: str | None, sessions: int, *, closed: bool
) -> Waits | None:
    """The waits of a phase; None if its sessions were not sampled.

    Args:
        known: The estimates of the run.
        at: The sampled metrics of the phase.
        target: Its target.
        sessions: Its concurrent sessions.
        closed: Whether each of them always has work.
    """
    found: dict[WaitClass, dict[str, float]] = {}
    names: dict[WaitClass, list[str]] = {}
    for metric in known.between(f"{at}.{SESSIONS}.{target}.", metrics.Sampled.mean):
        word, _, event = metric.partition("/")
        key = at.sampled(SESSIONS, str(target), metric).mean
        value = known.value(key)
        wait = _CLASSES.get(word)
        if wait is not None and value is not None and value >= 0:
            found.setdefault(wait, {})[event] = value
            names.setdefault(wait, []).append(key.name)
    if not found:
        return None
    active = sum(value for events in found.values() for value in events.values())
    concurrency = max(active, float(sessions) if closed else 1.0)
    return Waits(found, {one: tuple(listed) for one, listed in names.items()}, concurrency)
