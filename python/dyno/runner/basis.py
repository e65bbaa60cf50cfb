"""What a run did, as the base of a study that repeats it. Bundles are untrusted input."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from dyno import workloads
from dyno.bundle.model import Run, those
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.contracts.layout import Layout
from dyno.errors import UsageError
from dyno.layouts import DEFAULT
from dyno.layouts.resolve import resolve
from dyno.plans.run import RunPlan
from dyno.studies.form import Base
from dyno.studies.model import Value
from dyno.studies.proofs import Basis

_REPEATED = {
    *("target", "scale", "seed", "out", "quiet", "json", "yes", "live", "set", "settings"),
    *("limit", "users", "duration", "warmup", "think", "home", "mode", "reconnect"),
    *("no-criteria", "test", "streams", "parameters", "refresh", "no-refresh", "no-warming"),
    *("cold", "timeout", "plans", "query-figures", "no-query-figures"),
}
"""Options of ``dyno run`` that the study repeats, or that do not change what is measured."""


def basis(run: Run) -> Basis:
    """What a run did: its workload, scale, target, layout, settings and options.

    Raises:
        UsageError: If no study can repeat it, with the reason.
    """
    if run.verb != "run" or len(run.workloads) != 1:
        raise UsageError(
            f"{run.run} comes from `dyno {run.verb}`; only runs of `dyno run` are repeated."
        )
    try:
        return _basis(run)
    except (ValueError, TypeError) as error:  # pydantic's errors are ValueErrors
        raise UsageError(f"The plan of {run.run} is damaged, or from another version.") from error


def _basis(run: Run) -> Basis:
    plan, workload = run.plan, run.workloads[0]
    kind = workloads.named(workload).kind
    _require_repeatable(plan)
    scale, days = _scale(run), _days(run)
    base = Base(
        workload=workload,
        target=str(plan.get("target", "")).replace(":***@", "@"),
        scale=scale,
        load={**_history(workload, days), **_design(plan.get("layout"), workload, scale, days)},
        run=_transactions(plan) if kind == "oltp" else _queries(plan),
        settings=_words(plan.get("settings")),
        limits=_words(plan.get("limits")),
    )
    cold = kind == "dss" and plan.get("cache") == "cold"
    return Basis(base, "cold" if cold else None, plan.get("test") == "throughput")


def _require_repeatable(plan: Mapping[str, Any]) -> None:
    """Refuses a run with options that a study of advice does not repeat."""
    if plan.get("members"):
        raise UsageError("A run of several workloads or targets at once is not repeated.")
    try:
        words = shlex.split(str(plan.get("command", "")))
    except ValueError:
        words = []
    given = [word[2:].partition("=")[0] for word in words if word.startswith("--")]
    other = next((name for name in given if name not in _REPEATED), None)
    if not words or other is not None:
        what = f"--{other}" if other else "unknown options"
        raise UsageError(f"A run with {what} cannot be repeated. Run without it, and use that run.")
    users = plan.get("users")
    if isinstance(users, list) and len(users) > 1:  # pyright: ignore[reportUnknownArgumentType]
        raise UsageError(
            "The run has several --users: what helps few may not help many. Run with one "
            "value, and advise that run."
        )


def _scale(run: Run) -> float:
    for phase in run.phases:
        size = phase.detail.size if isinstance(phase.detail, OltpDetail) else None
        size = phase.detail.scale if isinstance(phase.detail, DssDetail) else size
        if size is not None and size > 0:
            return float(size)
    raise UsageError(f"{run.run} did not record the scale of its data.")


def _days(run: Run) -> int | None:
    """Initial days of the data; None for a workload without."""
    found = (phase.detail.days for phase in those(run.phases, OltpDetail))
    return next((days for days in found if days is not None), None)


def _history(workload: str, days: int | None) -> dict[str, Value]:
    """The option of ``dyno load`` for data with other than the usual initial days."""
    known = workloads.named(workload).days
    return {} if days is None or known is None or days == known.usual else {"days": days}


def _design(recorded: Any, workload: str, scale: float, days: int | None) -> dict[str, Value]:
    """The options of ``dyno load`` that give the recorded layout.

    Raises:
        UsageError: If none do: its file is gone or has changed, or volumes were chosen.
    """
    if not isinstance(recorded, Mapping) or recorded == {"name": DEFAULT}:
        return {}
    layout = Layout.model_validate(recorded)
    source = layout.name if layout.source == "preset" else layout.source
    indexes: list[str] = []
    plain = resolve(source, workload, scale, days=days)
    for table, design in layout.tables.items():
        known = plain.design(table).indexes
        indexes += [
            f"{table}:{','.join(one.columns)}" for one in design.indexes if one not in known
        ]
    again = resolve(source, workload, scale, indexes, days)
    again = again.model_copy(update={"notes": layout.notes})
    if again != layout:
        raise UsageError(f"The layout {layout.name} has changed since the run loaded its data.")
    named: dict[str, Value] = {} if source == DEFAULT else {"layout": source}
    return {**named, "index": " ".join(indexes)} if indexes else named


def _transactions(plan: Mapping[str, Any]) -> dict[str, Value]:
    users = plan.get("users")
    found: dict[str, Value] = {
        "users": int(users[0]) if isinstance(users, list) and users else 1,  # pyright: ignore[reportUnknownArgumentType]
        "duration": f"{float(plan.get('duration_s', 60)):g}s",
        "warmup": f"{float(plan.get('warmup_s', 5)):g}s",
    }
    for name in ("home", "mode", "think"):
        if plan.get(name) not in (None, RunPlan.model_fields[name].default):
            found[name] = plan[name]
    return found


def _queries(plan: Mapping[str, Any]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    test = plan.get("test") or "power"
    streams = test != "power"
    usual = {"test": "power", "parameters": "seeded" if streams else "validation"}
    for name, value in usual.items():
        if plan.get(name) not in (None, value):
            found[name] = plan[name]
    if plan.get("streams") is not None:
        found["streams"] = plan["streams"]
    if plan.get("refresh") is not None and bool(plan["refresh"]) != streams:
        found["refresh" if plan["refresh"] else "no_refresh"] = True
    if plan.get("cache") == "first" and not (streams and test == "throughput"):
        found["no_warming"] = True
    if plan.get("timeout_s") not in (None, 600.0):
        found["timeout"] = f"{float(plan['timeout_s']):g}s"
    return found


def _words(recorded: Any) -> dict[str, Value]:
    if not isinstance(recorded, Mapping):
        return {}
    return {str(word): str(value) for word, value in recorded.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
