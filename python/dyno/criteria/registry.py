"""Finds the metrics: files under ``measures`` that offer ``metrics(operations)``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping, Sequence

from dyno.contracts.transactions import Transactions
from dyno.criteria import measures as package
from dyno.criteria.base import Metric
from dyno.criteria.language import Criterion, parse
from dyno.criteria.measures.roles import member


class Words(Mapping[str, Metric]):
    """Metrics by their word. Metrics of further partitions are known, but not listed."""

    def __init__(self, listed: Mapping[str, Metric]) -> None:
        self._listed = listed

    def __getitem__(self, word: str) -> Metric:
        """Returns the metric of a word; raises KeyError if there is none."""
        found = self._listed.get(word) or member(word)
        if found is None:
            raise KeyError(word)
        return found

    def __iter__(self) -> Iterator[str]:
        """Yields the listed words."""
        return iter(self._listed)

    def __len__(self) -> int:
        """Counts the listed words."""
        return len(self._listed)


def metrics(operations: Sequence[str]) -> Mapping[str, Metric]:
    """All metrics by their word, for a workload of these operations."""
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    modules = [importlib.import_module(f"{package.__name__}.{name}") for name in names]
    return Words(
        {metric.name: metric for module in modules for metric in module.metrics(operations)}
    )


def defaults(work: Transactions) -> list[Criterion]:
    """The limits that hold unless the user says otherwise, with their sources."""
    known = metrics(tuple(work.mix))
    usual = [
        parse(metric.default.text, known, metric.default.source)
        for metric in known.values()
        if metric.default is not None
    ]
    own = (f"{name} p90 < {limit_s:g} s" for name, limit_s in work.p90_s.items())
    return [*usual, *(parse(text, known, work.p90_source) for text in own)]
