"""Isolation scenarios of a workload: what they are, and a check for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from dyno.bundle.model import Check
from dyno.contracts.isolation import Isolation
from dyno.contracts.target import Connection
from dyno.errors import DynoError, Interrupted
from dyno.workloads.actors import Stage


@dataclass
class Seen:
    """Observations of a scenario's sessions.

    Attributes:
        facts: For the record, by name.
        faults: Violations, one line each; empty if the scenario passes.
    """

    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    faults: list[str] = field(default_factory=list[str])

    def require(self, what: str, found: Any, expected: Any) -> None:
        """Records a value, and a fault if it is wrong."""
        self.facts[what] = str(found)
        if found != expected:
            self.faults.append(f"{what} is {found}, not {expected}")

    def note(self, who: str, *, waited: bool) -> None:
        """Records whether somebody waited for another session."""
        self.facts[who] = "waited" if waited else "went on"


@dataclass(frozen=True)
class Scenario:
    """Transactions of concurrent sessions, in a certain order.

    Attributes:
        number: Its number in the record of checks.
        title: The required result.
        play: Runs it on a stage of sessions.
    """

    number: int
    title: str
    play: Callable[[Stage], Seen]


def play_all(
    scenarios: Iterable[Scenario],
    target: str,
    connect: Callable[[], Connection],
    isolation: Isolation,
    level: str,
) -> list[Check]:
    """A check for each: whether transactions at ``level`` are isolated as the workload requires.

    Their commits stay, as after a run. Nobody else may use the tables meanwhile.

    Raises:
        TargetError: Of the kind ``connection_lost``, if the server is gone.
    """

    def begin(writes: bool) -> tuple[str, ...]:
        return isolation.begin(level, writes)

    stage = Stage(connect, begin)
    return [_check(target, scenario, stage, level) for scenario in scenarios]


def _check(target: str, scenario: Scenario, stage: Stage, level: str) -> Check:
    detail = {"title": scenario.title, "level": level}
    name = f"isolation {scenario.number}"
    try:
        seen = scenario.play(stage)
    except Interrupted:
        raise
    except DynoError as error:
        if error.kind == "connection_lost":
            raise
        message = f"{scenario.title}: fails at {level}: {error}"
        return Check(name=name, target=target, passed=False, message=message, detail=detail)
    facts = ", ".join(f"{what} {found}" for what, found in seen.facts.items())
    if seen.faults:
        message = f"{scenario.title}: fails at {level}: {'; '.join(seen.faults)}"
    else:
        message = f"{scenario.title} ({level}: {facts})"
    return Check(
        name=name,
        target=target,
        passed=not seen.faults,
        message=message,
        detail={**detail, **seen.facts},
    )
