"""Plans as JSON documents."""

from __future__ import annotations

from typing import Any

from dyno.errors import UsageError
from dyno.plans.certify import CertifyPlan
from dyno.plans.check import CheckPlan
from dyno.plans.fields import Plan, made
from dyno.plans.loading import LoadingPlan
from dyno.plans.quickstart import QuickstartPlan
from dyno.plans.run import RunPlan
from dyno.plans.storage import StoragePlan
from dyno.safety import plainjson

_KINDS: tuple[type[Plan], ...] = (
    CertifyPlan,
    CheckPlan,
    LoadingPlan,
    QuickstartPlan,
    RunPlan,
    StoragePlan,
)


def document(plan: Plan) -> dict[str, Any]:
    """A plan as a JSON document for :func:`read`."""
    return {plan.verb: plan.model_dump(mode="json", exclude_unset=True)}


def read(text: str) -> Plan:
    """The plan in a JSON document of :func:`document`.

    Raises:
        UsageError: If the document or a value is invalid.
    """
    try:
        found: Any = plainjson.loads(text)
    except ValueError as error:
        raise UsageError(f"Not a valid plan: {error}.") from error
    for kind in _KINDS:
        if isinstance(found, dict) and list(found) == [kind.verb]:
            return made(kind, found[kind.verb])
    raise UsageError("Not a valid plan: it needs one verb with its values.")
