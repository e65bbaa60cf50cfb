"""Transactions of ``dyno run``: one or several databases, load levels or a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dyno.config.rates import Rate
    from dyno.contracts.target import Loaded
    from dyno.plans.run import RunPlan
    from dyno.runner.findmax import Search
    from dyno.runner.session import Session
    from dyno.stages.drive import OltpPlan


def run_transactions(
    session: Session,
    asked: RunPlan,
    workload: str,
    scale: float | None,
    settings: dict[str, Any],
    rates: list[Rate],
    search: Search | None,
) -> None:
    """Runs the levels or the search, then verifies the data.

    Args:
        session: The open session.
        asked: The plan.
        workload: Name of the workload.
        scale: The required scale of the loaded data; None accepts any.
        settings: The levels and maintenance of the plan, as in the bundle.
        rates: The rates of an open loop, one per level.
        search: The search, if any.
    """
    from dyno import workloads
    from dyno.runner import stages
    from dyno.runner.confirm import confirm
    from dyno.runner.databases import loaded_in_all
    from dyno.runner.during import before_start, during_plan, require_here
    from dyno.runner.layout import note_layout
    from dyno.runner.search import find_max
    from dyno.stages.drive import UntilSteadyPlan, interval_for
    from dyno.statistics.steady import settled

    with session.target(asked.url, before_start(settings)) as target:
        require_here(target, workload, settings)
        every = loaded_in_all(target, workload, scale, settings["databases"])
        note_layout(session, target, every[workload])
        if settings["think"]:
            crowded = workloads.get(workload).transactions.crowd(
                max(settings["users"]), every[workload].scale
            )
            if crowded is not None:
                session.events.warn(crowded)
        interval_s = 1.0 if search is None else interval_for(settings["duration_s"])
        plans = _plans(workload, list(every.values()), settings, rates, interval_s)
        if search is not None:
            stages.programmed(session, target, plans[0])
            find_max(session, target, search, plans[0])
            stages.consistency(session, target, plans[0])
            return
        limit_s = settings["until_steady_s"]
        extension = None if limit_s is None else UntilSteadyPlan(limit_s, settled)
        stages.levels(session, target, plans, during_plan(settings), extension)
        if asked.confirm_limit:
            confirm(session, target, plans)
        stages.consistency(session, target, plans[0])


def _plans(
    workload: str,
    held: list[Loaded],
    settings: dict[str, Any],
    rates: list[Rate],
    interval_s: float,
) -> list[OltpPlan]:
    """Returns one plan per level."""
    from dyno.runtime.seeds import in_series
    from dyno.stages.drive import OltpPlan

    seed = settings["seed"]
    levels = [(users, rate) for users in settings["users"] for rate in rates or [None]]
    return [
        OltpPlan(
            workload,
            held[0],
            users,
            settings["warmup_s"],
            settings["duration_s"],
            in_series(seed, workload, place, "level"),
            rate_per_s=rate,
            poisson=settings["arrivals"] == "poisson",
            think=settings["think"],
            home=settings["home"],
            interval_s=interval_s,
            mode=settings["mode"],
            reconnect_s=settings["reconnect_s"],
            several=tuple(held) if len(held) > 1 else (),
        )
        for place, (users, rate) in enumerate(levels)
    ]
