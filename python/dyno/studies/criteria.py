"""Limits on the metrics of a study's runs: ``METRIC OP VALUE``, as ``p95_ms.new_order < 2000``.

The value has the unit of the metric's name. ``query_s.* < 60`` limits each member of a family. A
run that fails one stays valid and counts, but its variant is disqualified.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from dyno import workloads
from dyno.errors import UsageError, nearest
from dyno.studies.metrics import METRICS, find
from dyno.studies.model import members
from dyno.workloads import own

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
}
_FORM = re.compile(
    r"\s*(?P<metric>\w+)(?:\.(?P<each>[^\s<>=]+))?\s*(?P<op><=|>=|<|>|=)\s*"
    r"(?P<value>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*"
)
_EVERY = "*"


@dataclass(frozen=True)
class Limit:
    """A limit on a metric.

    Attributes:
        text: Its normal form.
        metric: Its name in ``METRICS``.
        each: The member of a family, or ``*`` for all; None for a single metric.
    """

    text: str
    metric: str
    each: str | None
    op: str
    value: float

    def broken(self, values: Mapping[str, float]) -> list[str]:
        """How a run violates the limit; empty if it passes.

        A missing metric fails.
        """
        if self.each == _EVERY:
            names = [name for name in values if name.partition(".")[0] == self.metric]
        else:
            names = [self.metric if self.each is None else f"{self.metric}.{self.each}"]
        found = [(name, values.get(name)) for name in names] or [(self.metric, None)]
        holds = _OPERATORS[self.op]
        return [
            f"{self.text} failed: "
            + ("metric missing" if value is None else f"{name} {value:,.4g}")
            for name, value in found
            if value is None or not holds(value, self.value)
        ]


def parse(text: str, kinds: Iterable[str]) -> Limit:
    """Parses a criterion of a study whose variants have the workloads ``kinds``.

    Raises:
        UsageError: If it is invalid; the message offers the nearest metric or family member.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise UsageError(
            f"criterion '{text}' is not valid. Write it as 'p95_ms.new_order < 2000' or "
            "'query_s.* < 60', without a unit."
        )
    name, each, op = found["metric"], found["each"], found["op"]
    metric = find(name)
    if metric is None:
        raise UsageError(f"criterion '{text}': unknown metric '{name}'. {nearest(name, METRICS)}")
    family = bool(metric.each)
    if each is not None and not family:
        raise UsageError(f"criterion '{text}': {name} has no members; remove '.{each}'.")
    if each is None and family:
        raise UsageError(f"criterion '{text}': {name} has several members; use one, or {name}.*.")
    known = _members(name, kinds)
    if each not in (None, _EVERY) and known and each not in known:
        raise UsageError(f"criterion '{text}': unknown '{each}'. {nearest(str(each), known)}")
    dotted = name if each is None else f"{name}.{each}"
    return Limit(f"{dotted} {op} {found['value']}", name, each, op, float(found["value"]))


def broken(criteria: Iterable[str], kinds: Iterable[str], values: Mapping[str, float]) -> list[str]:
    """The criteria that a run fails, as text."""
    names = tuple(kinds)
    return [words for text in criteria for words in parse(text, names).broken(values)]


def _members(name: str, kinds: Iterable[str]) -> list[str]:
    """The known members of a family."""
    found: list[str] = []
    for kind in (word for one in kinds for word in members(one)):
        if kind in workloads.names() or own.is_meant(kind):
            workload = workloads.named(kind)
            if name == "p95_ms":
                found += workload.operations
            elif name == "query_s":
                found += [query.name for query in workload.queries]
    return sorted(set(found))
