"""Loads with the Rust loader: the request and its outcome."""

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
        wire: Connection parameters for the loader; may contain a password.
        plan: The load.
        control: Handle of the loader, for progress and cancellation.
        done: Parts already loaded, for a target with a journal; None for others.

    Raises:
        _core.EngineError: The error of the loader.
    """
    from dyno import _core

    request: dict[str, Any] = {
        "wire": wire,
        "workload": databases.workload_of(plan.workload),
        "scale": plan.scale,
        "seed": plan.seed,
        "days": plan.days,
        "streams": plan.streams,
        "tables": schema.table_names(plan.workload),
    }
    if done is not None:
        request["journal"] = {"table": TABLE, "done": [vars(part) for part in done]}
    outcome = json.loads(_core.load(json.dumps(request), control))
    return LoadOutcome(
        tuple(outcome["tables"]), outcome["seconds"], outcome["rows"], outcome["bytes"]
    )
