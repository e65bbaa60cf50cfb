"""Maximum load within limits, as found by a search, with bounds and window noise."""

from __future__ import annotations

from collections.abc import Iterable

from dyno import workloads
from dyno.analyse.oltp import of_level
from dyno.bundle import metrics
from dyno.bundle.model import Estimate, Phase, those
from dyno.bundle.phases.search import SearchDetail
from dyno.bundle.reader import Bundle


def search(bundle: Bundle) -> list[Estimate]:
    """``capacity.users`` or ``capacity.rate``, and ``capacity.<metric>`` at that load.

    The bounds of the load are the largest load that passed and the smallest that failed. A rate is
    the mean over the windows at the maximum. A percentile is the worst over the windows, because
    percentiles cannot be averaged. Their bounds are minimum and maximum.
    """
    return [
        one for phase in those(bundle.run.phases, SearchDetail) for one in _capacity(bundle, phase)
    ]


def _capacity(bundle: Bundle, phase: Phase[SearchDetail]) -> Iterable[Estimate]:
    best, by = phase.detail.best, phase.detail.by
    if best is None:
        return
    at = metrics.Capacity()
    yield (at.rate if by == "rate" else at.users).estimate(
        best,
        "the largest load that passed; upper bound: the smallest that failed",
        low=best,
        high=phase.detail.failing,
    )
    levels = [level for level in phase.detail.counted or () if level in bundle.levels()]
    known = metrics.Estimates(one for level in levels for one in of_level(bundle, level))
    main = workloads.driven(bundle.run.workloads)
    windows = [metrics.Level(level) for level in levels]
    for key, own in (
        (at.tps, [one.tps for one in windows]),
        (at.per_min(main.plural), [one.per_min(main.plural) for one in windows]),
        (
            at.operation(main.main).response("p95"),
            [one.operation(main.main).response("p95") for one in windows],
        ),
    ):
        # An unsteady window is measured again for longer; the rate covers all of that time.
        pairs = [
            (value, known.value(window.seconds) or 0.0)
            for window, of_it in zip(windows, own, strict=True)
            if (value := known.value(of_it)) is not None
        ]
        if pairs:
            values = [value for value, _ in pairs]
            whole = sum(seconds for _, seconds in pairs)
            worst = key.unit == "ms"
            yield key.estimate(
                max(values) if worst else sum(value * s for value, s in pairs) / whole,
                f"{'worst' if worst else 'mean'} of {len(values)} windows at the maximum; bounds: "
                "their range",
                low=min(values),
                high=max(values),
            )
