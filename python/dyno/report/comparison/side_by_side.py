"""Two runs side by side: their differences, and their common metrics."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dyno.bundle.model import Estimate, those
from dyno.bundle.phases.io import IoDetail
from dyno.bundle.reader import Bundle
from dyno.profiles.pages import granted
from dyno.report.comparison.names import is_headline, metric, subject
from dyno.report.kit.formats import rounded
from dyno.safety.text import plain

COLUMNS = 80
MOST_METRICS = 40
MOST_DIFFERENCES = 12
_WIDE, _CHANGE = 112, 12

Interval = tuple[float, float] | None

_UNLIKE = frozenset({"command"})
"""Parts of a plan whose differences do not matter."""


@dataclass(frozen=True)
class Pair:
    """A metric that both runs have.

    Attributes:
        subject, metric: Titles of the subject and of the metric with its unit.
        first_interval, second_interval: 95 % intervals, if any.
    """

    name: str
    unit: str
    first: float
    second: float
    subject: str = ""
    metric: str = ""
    first_interval: Interval = None
    second_interval: Interval = None

    @property
    def percent(self) -> float | None:
        """Change from the first to the second; None if the first is zero."""
        return None if self.first == 0 else 100 * (self.second / self.first - 1)

    @property
    def headline(self) -> bool:
        """Whether it is a headline metric."""
        return is_headline(self.name)

    @property
    def document(self) -> dict[str, Any]:
        """The metric as JSON."""
        return {**vars(self), "change_percent": self.percent}


def pairs(
    first: tuple[Bundle, Iterable[Estimate]], second: tuple[Bundle, Iterable[Estimate]]
) -> list[Pair]:
    """The common metrics of two runs, in the order of the first."""
    others = {estimate.name: estimate for estimate in second[1]}
    found: list[Pair] = []
    for one in first[1]:
        other = others.get(one.name)
        if other is not None and other.unit == one.unit:
            subjects = dict.fromkeys(subject(bundle, one.name) for bundle in (first[0], second[0]))
            found.append(
                Pair(
                    one.name, one.unit, one.value, other.value, " | ".join(subjects),
                    metric(one.name, one.unit), _interval(one), _interval(other),
                )
            )  # fmt: skip
    return found


def _interval(one: Estimate) -> Interval:
    return None if one.low is None or one.high is None else (one.low, one.high)


def differences(first: Bundle, second: Bundle) -> dict[str, tuple[str, str]]:
    """Differences in plan, target and machine."""
    sides = [dict(_asked(bundle)) for bundle in (first, second)]
    names = dict.fromkeys([*sides[0], *sides[1]])
    return {
        name: (sides[0].get(name, "–"), sides[1].get(name, "–"))
        for name in names
        if sides[0].get(name) != sides[1].get(name)
    }


def _asked(bundle: Bundle) -> Iterator[tuple[str, str]]:
    run = bundle.run
    yield "verb", run.verb
    yield "workloads", " ".join(run.workloads) or "–"
    yield "Dyno", run.dyno
    for name, target in run.targets.items():
        yield f"target {name}", target.version
        for word, value in target.settings.items():
            yield f"{name} {word}", value
    yield from _flat("", {k: v for k, v in run.plan.items() if k not in _UNLIKE})
    pages = {granted(phase.detail) for phase in those(run.phases, IoDetail)} - {None}
    if pages:
        yield "buffers' pages", " ".join(sorted(map(str, pages)))
    for section, names in _HOST.items():
        facts = run.host.get(section)
        for name in names:
            if isinstance(facts, dict) and facts.get(name) is not None:
                yield f"{section} {name}", str(facts[name])


_HOST = {
    "cpu": ("model", "usable"),
    "memory": ("total_bytes",),
    "kernel": ("release",),
    "storage": ("device", "fs_type"),
}


def _flat(start: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from _flat(f"{start}.{name}" if start else str(name), item)
    else:
        yield start, str(value)


def beside_lines(
    first: Bundle, second: Bundle, found: Iterable[Pair], width: int = COLUMNS
) -> list[str]:
    """The differences, a caveat on single runs, and the headline metrics.

    Args:
        first: A run.
        second: The run to compare with it.
        found: Their common metrics.
        width: Columns of the terminal; from 112 columns on, intervals follow their values.
    """
    lines = [*_differences(differences(first, second))]
    shown = [pair for pair in found if pair.headline]
    lines += textwrap.wrap(
        "One run each cannot separate a difference from noise. Repeat both (dyno io --repeat 5, or "
        "alternating runs).",
        COLUMNS,
    )
    lines += ["", *_table(shown[:MOST_METRICS], width)]
    if len(shown) > MOST_METRICS:
        lines.append(f"and {len(shown) - MOST_METRICS} more; --json has every metric.")
    return lines


def _table(shown: Sequence[Pair], width: int) -> list[str]:
    """A heading for each subject, then its metrics with their intervals."""
    wide = width >= _WIDE
    label, column = (38, 31) if wide else (30, 19)
    lines = [f"{'':<{label}}{'first':>{column}}{'second':>{column}}{'change':>{_CHANGE}}"]
    last = None
    for pair in shown:
        if pair.subject != last:
            last = pair.subject
            lines += textwrap.wrap(plain(last), width, subsequent_indent="  ")
        name = plain(f"  {pair.metric}")[: label - 1]
        values = [rounded(pair.first), rounded(pair.second)]
        spans = [_span(pair.first_interval), _span(pair.second_interval)]
        if wide:
            values = [f"{a} ({b})" if b else a for a, b in zip(values, spans, strict=True)]
        change = "–" if pair.percent is None else f"{pair.percent:+,.1f} %"
        lines.append(
            f"{name:<{label}}{values[0]:>{column}}{values[1]:>{column}}{change:>{_CHANGE}}"
        )
        if any(spans) and not wide:
            line = f"{'    95 % interval':<{label}}{spans[0]:>{column}}{spans[1]:>{column}}"
            lines.append(line.rstrip())
    if wide and any(pair.first_interval or pair.second_interval for pair in shown):
        lines.append("In brackets: 95 % intervals within a run.")
    return lines


def _span(interval: Interval) -> str:
    return "" if interval is None else f"{rounded(interval[0])} to {rounded(interval[1])}"


def _differences(found: dict[str, tuple[str, str]]) -> list[str]:
    if not found:
        return []
    lines = ["The runs differ:"]
    for name, (one, other) in list(found.items())[:MOST_DIFFERENCES]:
        text = plain(f"  {name}: {one} | {other}")
        lines.append(text if len(text) <= COLUMNS else f"{text[: COLUMNS - 1]}…")
    if len(found) > MOST_DIFFERENCES:
        lines.append(f"  and {len(found) - MOST_DIFFERENCES} more; --json has them.")
    return lines
