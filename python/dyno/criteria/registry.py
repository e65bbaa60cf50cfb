"""Finds the metrics: files under ``measures`` that offer ``metrics(operations)``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence

from dyno.criteria import measures as package
from dyno.criteria.base import Metric
from dyno.criteria.language import Criterion, parse


def metrics(operations: Sequence[str]) -> dict[str, Metric]:
    """All metrics by their word, for a workload of these operations."""
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    modules = [importlib.import_module(f"{package.__name__}.{name}") for name in names]
    return {metric.name: metric for module in modules for metric in module.metrics(operations)}


def defaults(operations: Sequence[str]) -> list[Criterion]:
    """The limits that hold unless the user says otherwise, with their sources."""
    known = metrics(operations)
    return [
        parse(metric.default.text, known, metric.default.source)
        for metric in known.values()
        if metric.default is not None
    ]
