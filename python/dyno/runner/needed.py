"""Whether the servers of a study can do what its jobs need, before any of them starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dyno import targets
from dyno.contracts.databases import home_of
from dyno.contracts.layout import Layout
from dyno.contracts.maintenance import parse
from dyno.contracts.needs import Examinable, Needs
from dyno.contracts.target import Limits
from dyno.errors import DynoError
from dyno.plans.loading import LoadingPlan
from dyno.plans.run import RunPlan
from dyno.runner.session import Job


def require(jobs: Iterable[tuple[str, Job]]) -> None:
    """Asks each server at a URL for what the jobs need of it. Changes nothing.

    Args:
        jobs: The jobs, each with the name of its variant.

    Raises:
        DynoError: With the variant and the reason.
    """
    asked: list[tuple[str, Needs]] = []
    for variant, job in jobs:
        for url, needs in _needs(job):
            if (url, needs) in asked:
                continue
            asked.append((url, needs))
            opened = targets.open_target(targets.parse(url), job.plan.out, Limits(1 << 30, 1))
            if not isinstance(opened, Examinable):
                continue
            try:
                opened.examine(needs)
            except DynoError as error:
                error.args = (f"'{variant}': {error}",)
                raise


def _needs(job: Job) -> Iterator[tuple[str, Needs]]:
    plan = job.plan
    if isinstance(plan, LoadingPlan):
        layout = Layout.model_validate(job.record["layout"])
        yield plan.target, Needs(home_of(plan.workload), layout, tuple(job.settings))
    elif isinstance(plan, RunPlan):
        during = None if plan.during is None else parse(plan.during)
        settings = tuple(dict.fromkeys(job.settings))
        for url in plan.target:
            yield url, Needs(plan.workload, settings=settings, maintenance=during)
