"""Records the execution plan of every query, outside the measured time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import Any

from dyno import workloads
from dyno.bundle.phases.plans import PlansDetail
from dyno.bundle.writer import Recorder, write_atomically
from dyno.contracts.plans import require
from dyno.contracts.target import Target
from dyno.errors import DynoError, Interrupted
from dyno.runtime.deadline import within
from dyno.runtime.progress import Progress
from dyno.safety.redaction import secretless
from dyno.stages.drive.again import connect_again


@dataclass(frozen=True)
class PlansPlan:
    """Options for execution plans.

    Attributes:
        analyse: Execute each query, so that the plan contains actual values.
        timeout_s: Query timeout. On timeout the query is cancelled; the plan is missing and the
            error is recorded.
    """

    workload: str
    scale: float
    analyse: bool = False
    timeout_s: float = 600.0


def explain(recorder: Recorder, target: Target, plan: PlansPlan, progress: Progress) -> None:
    """Writes ``plans/<target>/<query>.json`` for each query, with validation parameters.

    A query without a plan is recorded with its error, and the others continue.

    Raises:
        UsageError: If the target does not provide plans.
        TargetError: If the server is gone.
    """
    explains = require(target)
    workload = workloads.get(plan.workload)
    name = f"plans-{plan.workload}-{target.name}"
    make_detail = partial(
        PlansDetail, workload=plan.workload, scale=plan.scale, analysed=plan.analyse
    )
    with recorder.phase(name, f"Plans of {target.name}", make_detail(), target.name) as phase:
        folder = recorder.path / "plans" / target.name
        folder.mkdir(parents=True, exist_ok=True)
        errors: dict[str, str] = {}
        # A separate session: settings of the measured session would affect the plans.
        connection = target.connect(workloads.place_of(plan.workload))
        try:
            for number, query in enumerate(workload.queries):
                progress.update(number, len(workload.queries), query.name)
                parameters = query.validation(plan.scale)
                sql = query.text_for(target, plan.workload, parameters)
                kept: dict[str, Any] = {
                    "query": query.name,
                    "target": target.name,
                    "analysed": plan.analyse,
                    "parameters": query.recorded(parameters),
                    "sql": sql if query.written is None else secretless(sql),
                }
                work = partial(explains.explain, connection, sql, analyse=plan.analyse)
                try:
                    found = within(plan.timeout_s, work, connection.cancel)
                    kept.update(text=found.text, plan=found.tree)
                except Interrupted:
                    raise
                except DynoError as error:
                    errors[query.name] = str(error)
                    kept.update(error=str(error), error_kind=error.kind)
                    if error.kind == "connection_lost":
                        connection = connect_again(target, plan.workload, connection, str(error))
                text = json.dumps(kept, indent=1, default=str)
                write_atomically(folder / f"{query.name}.json", text)
        finally:
            connection.close()
        phase.detail = make_detail(errors=errors or None)
        progress.update(1, 1)
