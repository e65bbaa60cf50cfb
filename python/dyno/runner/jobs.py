"""Maps the plan of any command to its job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dyno.plans.certify import CertifyPlan
from dyno.plans.check import CheckPlan
from dyno.plans.fields import Plan
from dyno.plans.loading import LoadingPlan
from dyno.plans.quickstart import QuickstartPlan
from dyno.plans.run import RunPlan
from dyno.plans.storage import StoragePlan

if TYPE_CHECKING:
    from dyno.runner.session import Job


def job_of(plan: Plan) -> Job:
    """Returns the job of a plan. Starts and changes nothing.

    Raises:
        DynoError: If the plan is invalid, as far as can be checked before the start.
    """
    from dyno.runner import certify, check, load, quickstart, run, storage

    match plan:
        case RunPlan():
            return run.job(plan)
        case LoadingPlan():
            return load.job(plan)
        case CertifyPlan():
            return certify.job(plan)
        case CheckPlan():
            return check.job(plan)
        case StoragePlan():
            return storage.job(plan, storage.io_plan(plan))
        case QuickstartPlan():
            return quickstart.job(plan, quickstart.sizes_of(plan))
        case _:
            raise TypeError(f"{type(plan).__name__} is not the plan of a run.")
