"""The most load inside limits, as a search found it: with bounds, and the noise of its windows."""

from __future__ import annotations

from collections.abc import Iterable

from dyno import workloads
from dyno.analyse.oltp import of_level
from dyno.bundle.model import Estimate, Phase, those
from dyno.bundle.phases.search import SearchDetail
from dyno.bundle.reader import Bundle


def search(bundle: Bundle) -> list[Estimate]:
    """``capacity.users`` or ``capacity.rate``, and ``capacity.<figure>`` at that load.

    The load's bounds are the largest load that passed and the smallest that failed. A rate is the
    mean of the windows at the maximum, a percentile the worst of them (a mean of percentiles is
    none); bounds are the least and the greatest.
    """
    return [
        figure
        for phase in those(bundle.run.phases, SearchDetail)
        for figure in _capacity(bundle, phase)
    ]


def _capacity(bundle: Bundle, phase: Phase[SearchDetail]) -> Iterable[Estimate]:
    best, by = phase.detail.best, phase.detail.by
    if best is None:
        return
    yield Estimate(
        name=f"capacity.{by}",
        value=best,
        low=best,
        high=phase.detail.failing,
        unit="1/s" if by == "rate" else "",
        source="the largest load that kept the limits; above: the smallest that did not",
    )
    levels = [level for level in phase.detail.counted or () if level in bundle.levels()]
    known = {figure.name: figure.value for level in levels for figure in of_level(bundle, level)}
    main = workloads.driven(bundle.run.workloads)
    for figure, unit in {"tps": "1/s", main.per_min: "1/min", main.p95: "ms"}.items():
        # One that was not steady is measured again for longer: a rate is of all their time.
        pairs = [
            (value, known[f"oltp.{level}.seconds"])
            for level in levels
            if (value := known.get(f"oltp.{level}.{figure}")) is not None
        ]
        if pairs:
            values = [value for value, _ in pairs]
            whole = sum(seconds for _, seconds in pairs)
            yield Estimate(
                name=f"capacity.{figure}",
                value=max(values)
                if unit == "ms"
                else sum(value * seconds for value, seconds in pairs) / whole,
                low=min(values),
                high=max(values),
                unit=unit,
                source=f"{'worst' if unit == 'ms' else 'mean'} of {len(values)} windows at the "
                "maximum; bounds: their range",
            )
