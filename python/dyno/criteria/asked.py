"""The criteria in a run's plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dyno import workloads
from dyno.bundle import mixes
from dyno.bundle.model import Phase, Run
from dyno.criteria.base import Metric
from dyno.criteria.language import USER, Criterion, parse
from dyno.criteria.registry import metrics
from dyno.errors import UsageError


def known(run: Run) -> Mapping[str, Metric]:
    """The metrics that a run's workloads have."""
    operations: list[str] = []
    for name in run.workloads:
        try:
            operations += workloads.get(name).operations
        except UsageError:
            continue  # a workload that another version knows
    return metrics(operations)


def asked(run: Run, *lists: str) -> list[Criterion]:
    """The criteria in these lists of the plan (all if none is named), each once.

    Those that the user named are binding, and so are all limits of a search; the usual ones of an
    ordinary run are not (``docs/decisions/0010``).

    What this Dyno cannot read is left out: plans of others are untrusted input.
    """
    found: dict[str, Criterion] = {}
    for name in lists or ("criteria", "slo"):
        for criterion in _read(run.plan.get(name), known(run)):
            binding = name == "slo" or criterion.source == USER
            found.setdefault(str(criterion), replace(criterion, binding=binding))
    return list(found.values())


def judging(run: Run, phase: Phase | None) -> list[Criterion]:
    """The criteria that the level of a phase is judged by.

    One of several databases at once is judged by limits on response times alone, so that a slow one
    does not hide among the others. The machine, the errors and the throughput are of them all, and
    judged once, in the sum. Of several workloads at once, each is judged by limits on its own
    operations; by itself, as the reference for the others, it is not judged.
    """
    if phase is not None and phase.name in mixes.alone(run):
        return []  # the reference for the others
    found = asked(run)
    if phase is not None and len(run.workloads) > 1 and phase.detail.workload is not None:
        own = _of(phase.detail.workload)
        found = [criterion for criterion in found if criterion.metric in own]
    if phase is None or phase.part_of is None:
        return found
    words = known(run)
    return [criterion for criterion in found if words[criterion.metric].responses]


def _of(workload: str) -> Mapping[str, Metric]:
    """The metrics that one workload has."""
    found = workloads.known(workload)
    return metrics(() if found is None else found.operations)


def _read(items: Any, words: Mapping[str, Metric]) -> Sequence[Criterion]:
    found: list[Criterion] = []
    for item in items if isinstance(items, list) else []:
        if isinstance(item, dict) and isinstance(item.get("text"), str):
            try:
                found.append(parse(item["text"], words, str(item.get("source", USER))))
            except UsageError:
                continue
    return found
