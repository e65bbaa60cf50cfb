"""The language of criteria: ``METRIC [STAT] OP VALUE [UNIT]``, or ``STAT of METRIC OP …``."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from dyno.criteria.base import Metric
from dyno.errors import UsageError, nearest

USER = "asked for"
"""The source of a criterion of the user's own."""

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
}
_ALIASES = {"≤": "<=", "≥": ">=", "==": "="}
_EXAMPLE = "write it like 'new_order p95 < 500 ms', 'cpu < 70 %' or 'errors = 0'"
_TURNED = re.compile(r"^\s*([^\s<>=≤≥]+)\s+of\s+([^\s<>=≤≥]+)(?=[\s<>=≤≥])")
_FORM = re.compile(
    r"\s*(?P<metric>[^\s<>=≤≥]+)"
    r"(?:\s+(?P<stat>[^\s<>=≤≥]+))?"
    r"\s*(?P<op><=|>=|==|<|>|=|≤|≥)"
    r"\s*(?P<value>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"\s*(?P<unit>\S*)\s*"
)


@dataclass(frozen=True)
class Criterion:
    """A limit on a metric.

    Attributes:
        metric: The metric's word.
        stat: Its statistic.
        op: A key of ``OPERATORS``.
        limit: The limit, in ``unit``.
        unit: As the user gave it; empty for counts.
        source: Where the limit comes from.
        binding: Whether it decides the exit code of a run.
    """

    metric: str
    stat: str
    op: str
    limit: float
    unit: str
    source: str = USER
    binding: bool = True

    def __str__(self) -> str:
        """Its normal form, which reads back as the same."""
        limit = repr(self.limit).removesuffix(".0")
        return f"{self.metric} {self.stat} {self.op} {limit} {self.unit}".rstrip()

    def holds(self, value: float, factor: float) -> bool:
        """Whether a value in the first unit of its kind, ``factor`` of them a unit, is inside."""
        return OPERATORS[self.op](value, self.limit * factor)

    def excess(self, value: float, factor: float) -> float:
        """How far a value lies towards or beyond the wrong side: the largest is the worst."""
        limit = self.limit * factor
        if self.op == "=":
            return abs(value - limit)
        return value - limit if self.op in {"<", "<="} else limit - value

    def record(self) -> dict[str, str]:
        """For the bundle."""
        return {"text": str(self), "source": self.source}


def parse(text: str, known: Mapping[str, Metric], source: str = USER) -> Criterion:
    """A criterion from its text.

    Args:
        text: As a person writes it.
        known: The metrics there are.
        source: Where the limit comes from.

    Raises:
        UsageError: If a word is wrong, naming the nearest right one, or it has another form.
    """
    match = _FORM.fullmatch(_TURNED.sub(r"\2 \1", text))
    if match is None:
        raise UsageError(f"'{text}' is not a valid criterion; {_EXAMPLE}.")
    word = match["metric"]
    metric = known.get(word)
    if metric is None:
        raise UsageError(f"'{text}': unknown metric '{word}'. {nearest(word, known)}")
    stat = match["stat"] or metric.stats[0]
    if stat not in metric.stats:
        raise UsageError(
            f"'{text}': {word} has no statistic '{stat}'. {nearest(stat, metric.stats)}"
        )
    unit, limit = match["unit"], float(match["value"])
    if unit not in metric.units:
        raise UsageError(f"'{text}': {_wrong_unit(metric, unit)}")
    if not math.isfinite(limit):
        raise UsageError(f"'{text}': the limit is too large.")
    op = _ALIASES.get(match["op"], match["op"])
    return Criterion(word, stat, op, limit, unit, source)


def _wrong_unit(metric: Metric, unit: str) -> str:
    named = [word for word in metric.units if word]
    plain = "a plain number" if "" in metric.units else ""
    can = ", ".join([*named, *([plain] if plain else [])])
    given = f"cannot have the unit '{unit}'" if unit else "needs a unit"
    return f"{metric.name} {given}; use {can}."


def parse_all(
    texts: Iterable[str], known: Mapping[str, Metric], source: str = USER
) -> list[Criterion]:
    """Criteria from their texts, each once.

    Raises:
        UsageError: If one is wrong.
    """
    return list(dict.fromkeys(parse(text, known, source) for text in texts))
