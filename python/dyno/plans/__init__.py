"""What a user chose, frozen: by options of the command line, from Python, or in a study."""

from __future__ import annotations

from typing import Any

from dyno.errors import UsageError
from dyno.plans.check import CheckPlan
from dyno.plans.fields import Plan, made
from dyno.plans.loading import LoadingPlan
from dyno.plans.quickstart import QuickstartPlan
from dyno.plans.run import RunPlan
from dyno.plans.storage import StoragePlan
from dyno.safety import plainjson

__all__ = [
    "CheckPlan",
    "LoadingPlan",
    "Plan",
    "QuickstartPlan",
    "RunPlan",
    "StoragePlan",
    "document",
    "made",
    "read",
]

_KINDS: tuple[type[Plan], ...] = (CheckPlan, LoadingPlan, QuickstartPlan, RunPlan, StoragePlan)


def document(plan: Plan) -> dict[str, Any]:
    """A plan for another process, as :func:`read` takes it."""
    return {plan.verb: plan.model_dump(mode="json", exclude_unset=True)}


def read(text: str) -> Plan:
    """The plan in a JSON document: its verb, and what was given.

    Raises:
        UsageError: If it is none, or a value cannot be.
    """
    try:
        found: Any = plainjson.loads(text)
    except ValueError as error:
        raise UsageError(f"Not a valid plan: {error}.") from error
    for kind in _KINDS:
        if isinstance(found, dict) and list(found) == [kind.verb]:
            return made(kind, found[kind.verb])
    raise UsageError("Not a valid plan: it needs one verb with its values.")
