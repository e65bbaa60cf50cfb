"""Loads by the compiled half: the request, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dyno.contracts import databases, schema
from dyno.contracts.target import LoadOutcome, LoadPlan
from dyno.targets.journal import TABLE, Done


def load(
    wire: Mapping[str, Any], plan: LoadPlan, control: Any, done: Sequence[Done] | None = None
) -> LoadOutcome:
    """Generates the rows and sends them over ``wire``.

    Args:
        wire: How the loader reaches the target; may hold a password.
        plan: What to load.
        control: Handle of the compiled half, for progress and cancellation.
        done: Parts that are in already, of a target that keeps a journal; None of others.

    Raises:
        _core.EngineError: What the loader met.
    """
    from dyno import _core

    request: dict[str, Any] = {
        "wire": wire,
        "workload": databases.workload_of(plan.workload),
        "scale": plan.scale,
        "seed": plan.seed,
        "streams": plan.streams,
        "tables": schema.table_names(plan.workload),
    }
    if done is not None:
        request["journal"] = {"table": TABLE, "done": [vars(part) for part in done]}
    outcome = json.loads(_core.load(json.dumps(request), control))
    return LoadOutcome(
        tuple(outcome["tables"]), outcome["seconds"], outcome["rows"], outcome["bytes"]
    )
