"""Transactions on several databases at once: users in each of them, and the sum of all."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dyno import workloads
from dyno.databases import name
from dyno.drive.checkpoints import CheckpointCount
from dyno.drive.oltp import OltpPlan, facts, request, roomy
from dyno.drive.sums import interval_sums, summed_outcome
from dyno.engine import run_engines
from dyno.progress import Progress
from dyno.record import Recorder
from dyno.targets.base import Loaded, Target


def drive_several(
    recorder: Recorder,
    target: Target,
    plan: OltpPlan,
    loaded: Sequence[Loaded],
    progress: Progress,
) -> dict[str, Any]:
    """Drives a level in every database at the same time; the sum has the level's name.

    Args:
        recorder: Takes the record: a level each database, and one for the sum.
        target: Who is driven.
        plan: The level of one database, with the workload's own name.
        loaded: What each database holds.
        progress: Told how far it is.

    Returns:
        The summed outcome.

    Raises:
        TargetError: If the server was lost for good.
    """
    count = len(loaded)
    plans = [
        replace(
            plan,
            workload=name(plan.workload, number),
            loaded=held,
            # Not the same customers and items everywhere at the same moment.
            seed=plan.seed + number - 1,
            database=number,
        )
        for number, held in enumerate(loaded, 1)
    ]
    title = f"{workloads.get(plan.workload).title}, {plan.title}"
    start = f"oltp-{plan.workload}-{target.name}"
    counted = CheckpointCount(target, progress, plan.warmup_s)
    with roomy(target), contextlib.ExitStack() as stack:

        def phase(level: str, words: str) -> dict[str, Any]:
            return stack.enter_context(
                recorder.phase(f"{start}-{level}", f"{title} {words}", "oltp", target.name)
            )

        # They are left in the order that a reader wants them in: the sum first.
        parts = [phase(each.level, f"in database {each.database}") for each in reversed(plans)]
        parts.reverse()
        detail = phase(plan.level, f"in each of {count} databases")
        sessions = {
            "users": plan.users * count,
            "users_each": plan.users,
            "warehouses": sum(int(held.scale) for held in loaded),
        }
        detail.update({**facts(plan), **sessions, "databases": count})
        for part, each in zip(parts, plans, strict=True):
            part.update({**facts(each), "database": each.database})
        # Together as many driver threads as one would have: a driver that needs more is the limit.
        threads = max(1, len(os.sched_getaffinity(0)) // 2 // count)
        requests = [{**request(recorder, target, each), "threads": threads} for each in plans]
        outcomes = run_engines("drive", requests, counted)
        for part, each in zip(parts, outcomes, strict=True):
            part.update(outcome=each, duration_s=each["seconds"])
        rows = [_rows(recorder, each.level) for each in plans]
        apart_s = _apart_s(rows)
        recorder.add(f"ops/{plan.level}", interval_sums(rows))
        outcome = summed_outcome(outcomes)
        detail.update(
            outcome=outcome, duration_s=outcome["seconds"], apart_s=apart_s, **counted.facts()
        )
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
        if not any(row["done"] or row["rolled_back"] for row in measured):
            return None
        starts.append(min(int(row["t_ns"]) for row in measured))
    return (max(starts) - min(starts)) / 1e9 if starts else None
