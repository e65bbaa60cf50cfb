"""Criteria: what each one is about, over the window of each level and by interval."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.analyse.rows import rows
from dyno.analyse.series import Series, sampled, throughput
from dyno.analyse.window import LevelWindow
from dyno.bundle import Bundle
from dyno.criteria import Criterion, Measured, Metric, asked, known
from dyno.model import Estimate
from dyno.series import Key


def criteria(bundle: Bundle) -> list[Estimate]:
    """``criterion.<level>.<criterion>.<figure>`` for every level and criterion of the run.

    Figures: ``value`` of the window; ``worst`` interval's value and its start ``worst_t_ns``;
    ``failing`` of so many ``intervals``; ``missing`` where it cannot be judged, with the reason as
    the source.
    """
    if not asked(bundle.run):
        return []
    series = sampled(bundle)
    return [figure for level in bundle.levels() for figure in of_level(bundle, level, series)]


def of_level(bundle: Bundle, level: str, series: dict[Key, Series] | None = None) -> list[Estimate]:
    """The same for one level, whose phase may be the last one of a run that goes on."""
    measured = [row for row in rows(bundle, f"ops/{level}") if row["phase"] == "measure"]
    rates = throughput(measured)
    if rates is None:
        return []
    phase = next((one for one in bundle.run.phases if one.detail.get("level") == level), None)
    facts = bundle.run.targets.get(phase.target or "") if phase else None
    window = LevelWindow(measured, rates, sampled(bundle) if series is None else series, facts)
    words = known(bundle.run)
    return [
        figure
        for criterion in asked(bundle.run)
        for figure in _figures(f"criterion.{level}.{criterion}", criterion, words, window)
    ]


def _figures(
    name: str, criterion: Criterion, words: dict[str, Metric], window: LevelWindow
) -> Iterable[Estimate]:
    metric = words[criterion.metric]
    unit, factor = metric.units[criterion.unit]
    found = metric.measure(window, criterion.stat, unit)
    if not isinstance(found, Measured):
        yield Estimate(name=f"{name}.missing", value=1, unit="", source=found)
        return
    about = f"{metric.about}; {found.note}" if found.note else metric.about
    yield Estimate(name=f"{name}.value", value=found.value, unit=unit, source=about)
    if not found.intervals:
        return
    worst = max(found.intervals, key=lambda pair: criterion.excess(pair[1], factor))
    failing = sum(not criterion.holds(value, factor) for _, value in found.intervals)
    figures = {
        "worst": (worst[1], unit),
        "worst_t_ns": (float(worst[0]), "ns"),
        "failing": (float(failing), ""),
        "intervals": (float(len(found.intervals)), ""),
    }
    for figure, (value, its_unit) in figures.items():
        yield Estimate(name=f"{name}.{figure}", value=value, unit=its_unit, source="by interval")
