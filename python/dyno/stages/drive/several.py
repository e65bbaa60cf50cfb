"""A level of load, in one database or on several at once: users in each, and the sum of all."""

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
from dyno.stages.drive.oltp import (
    After,
    OltpPlan,
    drive_one,
    ended,
    explained,
    request,
    scale_fact,
    told,
)
from dyno.stages.drive.scheduler import gives_way
from dyno.stages.drive.sums import interval_sums, start_ns, summed_outcome


def parts(plan: OltpPlan) -> list[OltpPlan]:
    """The level of each database; the level itself where there is but one.

    A rate is divided equally: random gaps of each add up to random ones at the whole rate, and of
    even ones each database takes its turn.
    """
    if not plan.several:
        return [plan]
    count = len(plan.several)
    return [
        replace(
            plan,
            workload=name(plan.workload, number),
            loaded=held,
            # Not the same customers and items everywhere at the same moment.
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
    """Drives a level; see :func:`drive_one` and, of ``plan.several``, :func:`drive_several`.

    Returns:
        The driver's outcome: throughput, percentiles, errors, and what the client itself cost.

    Raises:
        TargetError: If the server was lost for good.
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
    """Drives a level in every database at the same time; the sum has the level's name.

    Args:
        recorder: Takes the record: a level each database, and one for the sum.
        target: Who is driven.
        plan: The level, with what ``several`` databases hold and the workload's own name.
        progress: Told how far it is.
        beside: Works meanwhile, and may end all of them early; see :func:`run_engines`.
        after: Given each level's name and outcome before they are added, the sum's last; what it
            tells is kept with the level.

    Returns:
        The summed outcome.

    Raises:
        TargetError: If the server was lost for good.
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

        # They are left in the order that a reader wants them in: the sum first.
        asked = [partial(told(each), part_of=plan.level) for each in plans]
        phases = [
            phase(each.level, f"{each.title} in database {each.database}", one)
            for each, one in reversed(list(zip(plans, asked, strict=True)))
        ]
        phases.reverse()
        asked_sum = partial(
            told(plan),
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
        outcomes = run_engines("drive", requests, progress, beside, gives_way(target))
        for part, one, each, found in zip(phases, asked, plans, outcomes, strict=True):
            part.detail = ended(one, each.level, found, after)
        rows = [_rows(recorder, each.level) for each in plans]
        recorder.add(f"ops/{plan.level}", interval_sums(rows, plan.interval_s))
        outcome = summed_outcome(outcomes)
        begun = partial(asked_sum, apart_s=_apart_s(rows))
        whole.detail = ended(begun, plan.level, outcome, after)
    return outcome


def _rows(recorder: Recorder, level: str) -> list[dict[str, Any]]:
    """What the driver wrote of a database."""
    with recorder.spool(f"ops/{level}").open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _apart_s(tables: Iterable[Sequence[Mapping[str, Any]]]) -> float | None:
    """Seconds from the first start of a measurement to the last; None if nothing ended in one."""
    starts: list[int] = []
    for rows in tables:
        measured = [row for row in rows if row["phase"] == "measure"]
        start = start_ns(measured)
        if start is None or not any(row["done"] or row["rolled_back"] for row in measured):
            return None
        starts.append(start)
    return (max(starts) - min(starts)) / 1e9 if starts else None
