"""Two runs side by side: what was different about them, and the figures that both have."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from dyno.bundle import Bundle
from dyno.model import Estimate
from dyno.profiles.pages import granted
from dyno.report.words import figure
from dyno.text import plain

COLUMNS = 80
MOST_FIGURES = 40
MOST_DIFFERENCES = 12

_UNLIKE = frozenset({"command"})
"""What of a plan may differ and mean nothing."""

# What a run is read by; the rest is in --json.
_HEADLINES = re.compile(
    r"io\.(.+\.)?best_(iops|mbps|p95_ms)"
    r"|load\..+\.(seconds|mb_per_s)"
    r"|dss\.[^./]+\.(power_total_s|geomean_s|power|throughput|composite|throughput_score)"
    r"|oltp\.[^.]+\.(tps|new_order\.response_p95_ms)"
    r"|capacity\.(tps|new_orders_per_min|load)"
)


@dataclass(frozen=True)
class Pair:
    """A figure that both runs have."""

    name: str
    unit: str
    first: float
    second: float

    @property
    def percent(self) -> float | None:
        """Change from the first to the second; None where the first is zero."""
        return None if self.first == 0 else 100 * (self.second / self.first - 1)

    @property
    def headline(self) -> bool:
        """Whether a run is read by it."""
        return _HEADLINES.fullmatch(self.name) is not None

    @property
    def document(self) -> dict[str, Any]:
        """It for other programs."""
        return {**vars(self), "change_percent": self.percent}


def pairs(first: Iterable[Estimate], second: Iterable[Estimate]) -> list[Pair]:
    """The figures that both have, in the order of the first."""
    others = {estimate.name: estimate for estimate in second}
    return [
        Pair(one.name, one.unit, one.value, other.value)
        for one in first
        if (other := others.get(one.name)) is not None and other.unit == one.unit
    ]


def differences(first: Bundle, second: Bundle) -> dict[str, tuple[str, str]]:
    """What was asked of the runs, what was measured and on what, where they differ."""
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
    pages = {granted(phase.detail) for phase in run.phases if phase.kind == "io"} - {None}
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


def beside_lines(first: Bundle, second: Bundle, found: Iterable[Pair]) -> list[str]:
    """What differs, a word on what one run each can prove, and the headline figures."""
    lines = [*_differences(differences(first, second))]
    shown = [pair for pair in found if pair.headline]
    lines += textwrap.wrap(
        "One run each proves nothing about the difference: measure both several times (dyno io "
        "--repeat 5; else run them again, in turns) before you believe it.",
        COLUMNS,
    )
    lines += ["", f"{'':<34}{'first':>14}{'second':>14}{'change':>10}"]
    for pair in shown[:MOST_FIGURES]:
        name = pair.name if len(pair.name) <= 33 else f"…{pair.name[-32:]}"
        change = "–" if pair.percent is None else f"{pair.percent:+.1f} %"
        values = f"{figure(pair.first):>14}{figure(pair.second):>14}{change:>10}"
        lines.append(f"{plain(name):<34}{values} {pair.unit[:7]}".rstrip())
    if len(shown) > MOST_FIGURES:
        lines.append(f"and {len(shown) - MOST_FIGURES} more; --json has every figure.")
    return lines


def _differences(found: dict[str, tuple[str, str]]) -> list[str]:
    if not found:
        return []
    lines = ["The runs were not alike:"]
    for name, (one, other) in list(found.items())[:MOST_DIFFERENCES]:
        text = plain(f"  {name}: {one} | {other}")
        lines.append(text if len(text) <= COLUMNS else f"{text[: COLUMNS - 1]}…")
    if len(found) > MOST_DIFFERENCES:
        lines.append(f"  and {len(found) - MOST_DIFFERENCES} more; --json has them.")
    return lines
