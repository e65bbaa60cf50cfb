"""Throttled storage: IOPS dropped and stayed low, or reached a cgroup limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dyno.bundle import metrics
from dyno.bundle.model import Phase
from dyno.bundle.subjects import subjects
from dyno.confinement.limits_asked import parse
from dyno.decide.case import Case
from dyno.decide.quiet import MOST_FOREIGN_PERCENT
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.decide.view import foreign_percent
from dyno.errors import UsageError
from dyno.profiles.steps import Step, windows

LEAST_DROP_PERCENT = 20.0
NEAR_PERCENT = 5.0

_ENDLESS = 1e15

_LIMITS = {
    "rbps": ("read_bytes", "reads of {:,.0f} MB/s", 1e6),
    "wbps": ("write_bytes", "writes of {:,.0f} MB/s", 1e6),
    "riops": ("reads", "{:,.0f} reads a second", 1.0),
    "wiops": ("writes", "{:,.0f} writes a second", 1.0),
}
"""io.max limits: the column that each limits, and its text."""


_KINDS = {"read_bytes": "rbps", "write_bytes": "wbps", "read_iops": "riops", "write_iops": "wiops"}
"""The same, by name in ``--limit``."""


def _check(case: Case) -> Iterable[Ruling]:
    yield from _drops(case)
    for phase in case.phases("io"):
        yield from _capped(case, phase)


def _drops(case: Case) -> Iterable[Ruling]:
    """One ruling for drops at a best load and one for others; each names the deepest."""
    drops = {
        at: (of_it[0], percent)
        for at, of_it in windows(case.steps).items()
        if (percent := case.value(at.drop_percent)) is not None and percent >= LEAST_DROP_PERCENT
    }
    for spoils in (True, False):
        found = {at: item for at, item in drops.items() if case.is_best(item[0]) is spoils}
        if not found:
            continue
        at = max(found, key=lambda load: found[load][1])
        step, percent = found[at]
        before, after = case.value(at.drop_from_iops), case.value(at.drop_to_iops)
        at_s = case.value(at.drop_at_s) or 0
        how = "between two windows" if _between(case, at, at_s) else "at once"
        more = f" Other loads affected: {len(found) - 1}." if len(found) > 1 else ""
        phase = case.phase_of(step)
        yield Ruling(
            "disturbed" if spoils else "warning",
            f"Storage was probably throttled: at {'the best load ' * spoils}{step.label} IOPS "
            f"dropped by {percent:.0f} % {how}, from {before or 0:,.0f} to {after or 0:,.0f}, "
            f"{at_s:.0f} s into the run, and did not recover.{more} "
            f"{_advice(case, phase, step)}",
            None if phase is None else phase.name,
            tuple(load.drop_percent.name for load in found),
        )


def _between(case: Case, at: metrics.StorageLoad, at_s: float) -> bool:
    """Whether a drop is between two windows of a load, within about one interval."""
    at_ns = case.bundle.run.clock.unix_ns + at_s * 1e9
    intervals = case.value(at.intervals)
    return bool(intervals) and any(
        abs(at_ns - step.start_ns) < 1.5e9 * step.seconds / intervals
        for step in windows(case.steps)[at][1:]
    )


def _advice(case: Case, phase: Phase | None, step: Step) -> str:
    """Advice; background load first, if the curve has any."""
    parts = [] if phase is None else [phase, *case.curves(phase)]
    own = [part for part in parts if part.name.rpartition("/")[2] == step.curve] or parts[:1]
    other = max((foreign_percent(case, part) or 0.0 for part in own), default=0.0)
    if other > MOST_FOREIGN_PERCENT:
        return (
            f"Background load was {other:.0f} % CPU and may be the cause: stop the other processes "
            "first."
        )
    return (
        "Check for exhausted burst credits, thermal throttling, a full write cache and other "
        "users of the storage. Measure for longer to see the sustained rate."
    )


def _capped(case: Case, phase: Phase) -> Iterable[Ruling]:
    """Cgroup limits that the measured rates reached."""
    steps = case.steps_in(phase)
    own = _own(case)
    for device, limits in _throttles(phase):
        for kind, limit in limits.items():
            column, words, scale = _LIMITS[kind]
            near = [
                step
                for step in steps
                if abs(step.row[column] / step.seconds - limit) * 100 <= limit * NEAR_PERCENT
            ]
            if near:
                asked = own.get(kind) == limit
                whose = "this run's limit" if asked else "a cgroup limit"
                advice = "" if asked else " Remove it (io.max), or run outside the cgroup."
                yield Ruling(
                    "note" if asked else "warning",
                    f"{phase.title}: {whose} on {device}, "
                    f"{words.format(limit / scale)}, was the bottleneck ({near[0].label}"
                    f"{f' and {len(near) - 1} more' if len(near) > 1 else ''}). The results show "
                    f"the limit, not the device.{advice}",
                    phase.name,
                    tuple(dict.fromkeys(step.metrics.iops.name for step in near)),
                )


def _own(case: Case) -> dict[str, float]:
    """The run's own limits, by their names in io.max."""
    confined = case.bundle.run.confined
    if confined is None:
        return {}
    try:
        asked = parse([f"{word}={text}" for word, text in confined.limits.items()])
    except UsageError:  # a bundle of another version
        return {}
    return {_KINDS[each.word.name]: each.value for each in asked if each.word.name in _KINDS}


def _throttles(phase: Phase) -> Iterator[tuple[str, dict[str, float]]]:
    """Devices with cgroup limits, if all volumes of the phase are on one device."""
    found = subjects(phase)
    if len({volume.device for volume in found}) != 1 or found[0].device is None:
        return
    limits = found[0].facts.get("cgroup_limit")
    by_kind: dict[Any, Any] = limits if isinstance(limits, dict) else {}
    yield (
        found[0].device,
        {
            kind: float(limit)
            for kind in _LIMITS
            if isinstance(limit := by_kind.get(kind), int | float) and 0 < limit < _ENDLESS
        },
    )


RULE = Rule(
    code="throttled-storage",
    weight=Weight.DOUBTFUL,
    definition=(
        "Across the windows of a curve's best load IOPS dropped abruptly by "
        f"{LEAST_DROP_PERCENT:g} % or more and did not recover. The change-point test allows for "
        "autocorrelation (significance level 1 %). Warning: a drop at another load, or a rate "
        f"within {NEAR_PERCENT:g} % of a cgroup limit (a note if it is the run's own limit)."
    ),
    explanation=(
        "Cloud volumes, controllers and hot drives exceed their sustained rate at first. The mean "
        "of both rates is neither. The time series alone cannot exclude background load."
    ),
    check=_check,
)
