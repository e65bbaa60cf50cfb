"""Storage: throughput and latency at each load, the best point within the ceiling, comparisons."""

from __future__ import annotations

from dyno.analyse.io.best import best_estimates
from dyno.analyse.io.compare import comparison
from dyno.analyse.io.loads import load_estimates
from dyno.analyse.io.parts import part_estimates
from dyno.analyse.io.places import Curve, places
from dyno.bundle import metrics
from dyno.bundle.model import Estimate
from dyno.bundle.reader import Bundle
from dyno.profiles.volume_sets import FilledSet


def io(bundle: Bundle) -> list[Estimate]:
    """Returns ``io.<curve>.<load>.<metric>``, the best of each curve, and comparisons.

    With several volume sets, names start with ``io.<volume set>``. With fill levels,
    ``.fill<percent>`` follows. A load is ``qd<depth>``, or ``rate<IOPS>`` in an open loop.
    """
    found = places(bundle)
    estimates: list[Estimate] = []
    seen: set[str] = set()
    for place in found:
        if place.volume_set.label not in seen:
            seen.add(place.volume_set.label)
            estimates.append(_ceiling(place))
        for curve in place.curves:
            of_curve = place.metrics.curve(curve.name)
            for load, point in curve.points.items():
                of_load = of_curve.load(load.name)
                estimates += load_estimates(of_load, load, point, place.volume_set.ceiling.of)
                estimates += part_estimates(of_load, point, place.volume_set.ceiling.of)
            estimates += best_estimates(of_curve, curve, place.volume_set.ceiling)
            if curve.settling is not None:
                source = "windows discarded before the measured ones"
                estimates.append(of_curve.settling_windows.estimate(curve.settling, source))
    return [*estimates, *comparison(bundle.run, found)]


def _ceiling(place: FilledSet[Curve]) -> Estimate:
    ceiling = place.volume_set.ceiling
    source = "the plan" if ceiling.of == "p95" else f"the plan; for {ceiling.of}"
    return metrics.VolumeSet(place.volume_set.key).ceiling_ms.estimate(ceiling.ms, source)
