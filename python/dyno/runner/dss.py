"""Decision-support tests of ``dyno run``."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dyno.contracts.target import Loaded, Target
    from dyno.plans.run import RunPlan
    from dyno.runner.session import Session
    from dyno.stages.drive import DssPlan, PowerPlan, ThroughputPlan


def run_tests(
    session: Session,
    asked: RunPlan,
    workload: str,
    scale: float | None,
    settings: dict[str, Any],
) -> None:
    """Runs the selected tests, then verifies their answers and the data.

    Args:
        session: The open session.
        asked: The plan.
        workload: Name of the workload.
        scale: The required scale of the loaded data; None accepts any.
        settings: ``cache``, ``timeout_s``, ``seed``, ``metering``, and the settings of plans and
            maintenance.
    """
    from dyno import workloads
    from dyno.runner import guests, stages
    from dyno.runner.cold import start_cold
    from dyno.runner.databases import loaded_in_all
    from dyno.runner.during import before_start, during_plan, require_here
    from dyno.runner.layout import note_layout
    from dyno.stages import drive
    from dyno.stages.drive import PowerPlan, StreamPlan, ThroughputPlan

    cache = settings["cache"]
    with session.target(asked.url, before_start(settings)) as target:
        require_here(target, workload, settings)
        guests.add(session, target, workload, asked.databases)
        every = loaded_in_all(target, workload, scale, asked.databases)
        found = every[workload]
        note_layout(session, target, found)
        for name in every:
            clear(session, target, name)
        chosen = workloads.get(workload)
        wanted = asked.refreshes and chosen.refresh is not None
        refresh = wanted and target.capabilities.refresh is True
        if refresh is not wanted:
            session.events.say(f"! Without refresh functions: {target.capabilities.refresh}.")
        common: dict[str, Any] = {
            "timeout_s": settings["timeout_s"],
            "parameters": asked.drawn,
            "seed": settings["seed"],
        }
        fresh: dict[str, Any] = {
            **common,
            "refresh": refresh,
            "metering": settings["metering"],
        }
        stages.prepare(target, workload)
        power = PowerPlan(workload, found.scale, **fresh, cache=cache, warm=cache == "warm")
        streams = asked.streams or chosen.streams(found.scale)
        held = "after-power" if asked.has_power else cache
        several = (0,) * len(every) if len(every) > 1 else ()
        throughput = ThroughputPlan(
            workload, found.scale, **fresh, cache=held, streams=streams, first_sets=several
        )
        with contextlib.ExitStack() as stack:
            if refresh:
                sets = int(asked.has_power) + (streams if asked.has_streams else 0)
                firsts = [
                    # The power test uses pair 0.
                    stack.enter_context(drive.restored(session.recorder, target, name, sets))
                    - (not asked.has_power)
                    for name in every
                ]
                power = replace(power, first_set=firsts[0])
                throughput = replace(
                    throughput, first_set=firsts[0], first_sets=tuple(firsts) if several else ()
                )
            power = stack.enter_context(start_cold(session, target, power, cache))
            if asked.has_power:
                _power(session, target, power, found)
            if asked.has_streams:
                _throughput(session, target, throughput, every)
        if settings["plans"]:
            stages.plans(session, target, power, analyse=settings["analyse_plans"])
        if during := during_plan(settings):
            users = streams if asked.has_streams else asked.streams or 1
            beside = StreamPlan(
                workload, found.scale, **common, cache=held, streams=users, first_sets=several
            )
            stages.queries_during(session, target, beside, during)
        # Verification follows the measurements, so that it does not change their cache state.
        if not (asked.has_power and power.proves):
            for name, held_data in every.items():
                ask(session, [(target, held_data)], replace(power, workload=name))
        for name, held_data in every.items() if chosen.verifies else ():
            stages.consistent(session, target, name, held_data)


def clear(session: Session, target: Target, workload: str) -> None:
    """Restores data that the refresh functions of an interrupted run changed."""
    from dyno.stages import drive

    changed = drive.restore_left(session.recorder, target, workload)
    if changed:
        session.events.say(
            f"! Restored the data: {changed:,} rows that the refresh functions of an interrupted "
            "run had inserted or deleted."
        )


def _power(session: Session, target: Target, plan: PowerPlan, found: Loaded) -> None:
    from dyno.runner import stages
    from dyno.stages import prove

    result = stages.power(session, target, plan)
    if plan.proves:
        reason = stages.unlike(target, plan.workload, found)
        stages.answers(session, plan, {target.name: result}, reason)
    if result.drawn:
        prove.streams(
            session.recorder, plan.workload, target.name, result.drawn, alike=False, test="power"
        )


def ask(session: Session, places: Sequence[tuple[Target, Loaded]], plan: DssPlan) -> None:
    """Verifies the answers after tests whose answers cannot be compared with the expected ones.

    Targets with the same data are compared with each other.
    """
    from dyno import workloads
    from dyno.runner import stages
    from dyno.stages import prove

    reasons = [stages.unlike(target, plan.workload, found) for target, found in places]
    expected = plan.scale in workloads.get(plan.workload).expected_scales and not any(reasons)
    if expected or _same_data(places, plan.workload):
        stages.asked(session, places, plan.workload, plan.timeout_s)
    else:
        for (target, _), reason in zip(places, reasons, strict=True):
            prove.unproven(session.recorder, plan.workload, plan.scale, target.name, reason)


def _same_data(places: Sequence[tuple[Target, Loaded]], workload: str) -> bool:
    """Whether several targets hold the same data of Dyno's, unchanged."""
    from dyno import workloads
    from dyno.runner import stages

    if len(places) == 1 or len({(found.scale, found.seed) for _, found in places}) > 1:
        return False
    if not workloads.get(workload).loads:
        return False
    return not any(stages.changed(target, workload, found) for target, found in places)


def _throughput(
    session: Session, target: Target, plan: ThroughputPlan, every: Mapping[str, Loaded]
) -> None:
    from dyno.runner import stages
    from dyno.stages import drive, prove

    users = f"{plan.total} stream{'s'[: plan.total != 1]} of queries"
    if plan.first_sets:
        users += f" in {len(plan.parts)} databases"
    title = f"{users} on {target.name}"
    with session.events.phase(title) as progress, session.probed(target):
        result = drive.throughput(session.recorder, target, plan, progress)
    alike = plan.parameters == "validation" and not plan.refresh
    alike = alike and not any(stages.changed(target, name, held) for name, held in every.items())
    prove.streams(session.recorder, plan.workload, target.name, result.answers, alike=alike)
