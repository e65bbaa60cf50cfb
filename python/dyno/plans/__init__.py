"""What a user chose, frozen: by options of the command line, from Python, or in a study."""

from __future__ import annotations

from dyno.plans.check import CheckPlan
from dyno.plans.fields import Plan, made
from dyno.plans.loading import LoadingPlan
from dyno.plans.quickstart import QuickstartPlan
from dyno.plans.run import RunPlan
from dyno.plans.storage import StoragePlan

__all__ = [
    "CheckPlan",
    "LoadingPlan",
    "Plan",
    "QuickstartPlan",
    "RunPlan",
    "StoragePlan",
    "made",
]
