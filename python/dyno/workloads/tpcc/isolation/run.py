"""Runs the scenarios one after another, and records a check for each."""

from __future__ import annotations

from collections.abc import Callable

from dyno.bundle.model import Check
from dyno.contracts.isolation import Isolation
from dyno.contracts.target import Connection
from dyno.errors import DynoError, Interrupted
from dyno.workloads.tpcc.isolation.actor import Stage
from dyno.workloads.tpcc.isolation.scenarios import SCENARIOS, Scenario


def check_isolation(
    target: str, connect: Callable[[], Connection], isolation: Isolation, level: str
) -> list[Check]:
    """Nine checks: whether transactions at ``level`` are isolated as the workload requires.

    Their commits stay, as after a run: a few orders, payments and a delivery. Nobody else may use
    the tables meanwhile.

    Raises:
        TargetError: Of the kind ``connection_lost``, if the server is gone.
    """

    def begin(writes: bool) -> tuple[str, ...]:
        return isolation.begin(level, writes)

    stage = Stage(connect, begin)
    return [_check(target, scenario, stage, level) for scenario in SCENARIOS]


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
