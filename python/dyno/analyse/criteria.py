"""Criteria of each level, over the window and per interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dyno.analyse.level import level
from dyno.analyse.series import sampled
from dyno.analyse.window import LevelWindow
from dyno.bundle import metrics
from dyno.bundle.carriers import of_target
from dyno.bundle.model import Estimate
from dyno.bundle.observed import Series
from dyno.bundle.reader import Bundle
from dyno.bundle.series import Key
from dyno.criteria import Criterion, Metric, Missing, asked, judging, known


def criteria(bundle: Bundle) -> list[Estimate]:
    """``criterion.<level>.<criterion>.<metric>`` for every level and criterion.

    Metrics: ``value`` over the window; the ``worst`` interval and its start ``worst_t_ns``; the
    number of ``failing`` ``intervals``; ``missing`` if the criterion cannot be judged; ``idle`` if
    the missing value does not count against the load. The source field gives the reason.
    """
    if not asked(bundle.run):
        return []
    series = sampled(bundle)
    return [one for name in bundle.levels() for one in of_level(bundle, name, series)]


def of_level(bundle: Bundle, name: str, series: dict[Key, Series] | None = None) -> list[Estimate]:
    """Evaluates one level; its phase may be the last one of a run in progress."""
    found = level(bundle, name)
    if found is None:
        return []
    target = found.phase.target if found.phase else None
    window = LevelWindow(
        found,
        sampled(bundle) if series is None else series,
        bundle.run.targets.get(target or ""),
        of_target(bundle.run, target),
    )
    words = known(bundle.run)
    return [
        one
        for criterion in judging(bundle.run, found.phase)
        for one in _estimates(metrics.Criterion(name, criterion), criterion, words, window)
    ]


def _estimates(
    at: metrics.Criterion, criterion: Criterion, words: Mapping[str, Metric], window: LevelWindow
) -> Iterable[Estimate]:
    metric = words[criterion.metric]
    unit, factor = metric.units[criterion.unit]
    found = metric.measure(window, criterion.stat, unit)
    if isinstance(found, Missing):
        yield (at.idle if found.idle else at.missing).estimate(1, found.reason)
        return
    about = f"{metric.about}; {found.note}" if found.note else metric.about
    yield at.value.estimate(found.value, about, unit=unit)
    if not found.intervals:
        return
    worst = max(found.intervals, key=lambda pair: criterion.excess(pair[1], factor))
    failing = sum(not criterion.holds(value, factor) for _, value in found.intervals)
    source = "by interval"
    yield at.worst.estimate(worst[1], source, unit=unit)
    yield at.worst_t_ns.estimate(float(worst[0]), source)
    yield at.failing.estimate(float(failing), source)
    yield at.intervals.estimate(float(len(found.intervals)), source)
