"""A load level on one or several databases: users per database, and the total."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from dyno import workloads
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.writer import Recorder, Recording
from dyno.contracts.databases import name
from dyno.contracts.target import Target
from dyno.runtime.engine_calls import Beside, run_engines
from dyno.runtime.progress import Progress
from dyno.runtime.seeds import derived
from dyno.stages.drive.gate import at_once
from dyno.stages.drive.oltp import (
    After,
    OltpPlan,
    base_detail,
    drive_one,
    ended,
    explained,
    request,
    scale_fact,
)
from dyno.stages.drive.scheduler import gives_way
from dyno.stages.drive.sums import interval_sums, start_ns, summed_outcome


def parts(plan: OltpPlan) -> list[OltpPlan]:
    """Returns the level of each database; the level itself for a single database.

    A rate is divided equally. Random arrivals of all databases add up to random arrivals at the
    total rate. With even arrivals the databases take turns.
    """
    if not plan.several:
        return [plan]
    count = len(plan.several)
    return [
        replace(
            plan,
            workload=name(plan.workload, number),
            loaded=held,
            # Each database uses different customers and items at the same time.
            seed=derived(plan.seed, plan.workload, number, "database"),
            rate_per_s=None if plan.rate is None else plan.rate.share(count),
            several=(),
            database=number,
        )
        for number, held in enumerate(plan.several, 1)
    ]


def drive(
    recorder: Recorder,
    target: Target,
    plan: OltpPlan,
    progress: Progress,
    beside: Beside | None = None,
    after: After | None = None,
) -> dict[str, Any]:
    """Runs a level; see :func:`drive_one` and, for ``plan.several``, :func:`drive_several`.

    Returns:
        The driver outcome: throughput, percentiles, errors, and the client cost.

    Raises:
        TargetError: If the server is permanently lost.
    """
    driven = drive_several if plan.several else drive_one
    return driven(recorder, target, plan, progress, beside, after)


def drive_several(
    recorder: Recorder,
    target: Target,
    plan: OltpPlan,
    progress: Progress,
    beside: Beside | None = None,
    after: After | None = None,
) -> dict[str, Any]:
    """Runs a level in every database concurrently. The total has the name of the level.

    No database begins before the sessions of all of them are open.

    Args:
        recorder: Receives the record: one level per database, and one for the total.
        target: The target.
        plan: The level, with the loaded data of ``several`` databases and the workload name.
        progress: Receives the progress.
        beside: Runs during the level and may end all databases early; see :func:`run_engines`.
        after: Called with the name and outcome of each level before the sum, and of the total last.
            Its result is stored with the level.

    Returns:
        The total outcome.

    Raises:
        TargetError: If the server is permanently lost.
    """
    plans = parts(plan)
    count = len(plans)
    title = workloads.get(plan.workload).title
    start = f"oltp-{plan.workload}-{target.name}"
    with explained(target), contextlib.ExitStack() as stack:

        def phase(level: str, words: str, asked: partial[OltpDetail]) -> Recording[OltpDetail]:
            return stack.enter_context(
                recorder.phase(f"{start}-{level}", f"{title}, {words}", asked(), target.name)
            )

        # The contexts exit in display order: the total first.
        asked = [partial(base_detail(each), part_of=plan.level) for each in plans]
        phases = [
            phase(each.level, f"{each.title} in database {each.database}", one)
            for each, one in reversed(list(zip(plans, asked, strict=True)))
        ]
        phases.reverse()
        asked_sum = partial(
            base_detail(plan),
            users=plan.users * count,
            users_each=plan.users,
            **scale_fact(plan.workload, sum(held.scale for held in plan.several)),
            databases=count,
        )
        whole = phase(plan.level, plan.title, asked_sum)
        requests = [
            {**request(recorder, target, each), "drivers": count, "turn": turn}
            for turn, each in enumerate(plans)
        ]
        outcomes = run_engines(
            "drive", requests, progress, at_once(beside), gives_way(target), held=True
        )
        for part, one, each, found in zip(phases, asked, plans, outcomes, strict=True):
            part.detail = ended(one, each.level, found, after)
        rows = [_rows(recorder, each.level) for each in plans]
        recorder.add(f"ops/{plan.level}", interval_sums(rows, plan.interval_s))
        outcome = summed_outcome(outcomes)
        begun = partial(asked_sum, apart_s=_apart_s(rows))
        whole.detail = ended(begun, plan.level, outcome, after)
    return outcome


def _rows(recorder: Recorder, level: str) -> list[dict[str, Any]]:
    """Returns the driver rows of a database."""
    with recorder.spool(f"ops/{level}").open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _apart_s(tables: Iterable[Sequence[Mapping[str, Any]]]) -> float | None:
    """Returns seconds from first to last measurement start; None if one completed nothing."""
    starts: list[int] = []
    for rows in tables:
        measured = [row for row in rows if row["phase"] == "measure"]
        start = start_ns(measured)
        if start is None or not any(row["done"] or row["rolled_back"] for row in measured):
            return None
        starts.append(start)
    return (max(starts) - min(starts)) / 1e9 if starts else None
