"""Storage: throughput and latency at each load, the best inside the ceiling, and comparisons."""

from __future__ import annotations

from dyno.analyse.io.best import figures as best_figures
from dyno.analyse.io.compare import comparison
from dyno.analyse.io.figures import figures
from dyno.analyse.io.parts import figures as part_figures
from dyno.analyse.io.places import Place, places
from dyno.bundle.model import Estimate
from dyno.bundle.reader import Bundle


def io(bundle: Bundle) -> list[Estimate]:
    """``io.<curve>.<load>.<figure>`` for each point, the best of each curve, and comparisons.

    With several arms the names start with ``io.<arm>``, with fill levels ``.fill<percent>``
    follows. A load is ``qd<depth>``, or ``rate<I/Os a second>`` in an open loop.
    """
    found = places(bundle)
    estimates: list[Estimate] = []
    told: set[str] = set()
    for place in found:
        if place.arm.label not in told:
            told.add(place.arm.label)
            estimates.append(_ceiling(place))
        for curve in place.curves:
            name = f"{place.start}.{curve.name}"
            for load, point in curve.points.items():
                estimates += figures(f"{name}.{load.name}", load, point, place.arm.ceiling.of)
                estimates += part_figures(f"{name}.{load.name}", point, place.arm.ceiling.of)
            estimates += best_figures(name, curve, place.arm.ceiling)
            if curve.settling is not None:
                estimates.append(_settling(name, curve.settling))
    return [*estimates, *comparison(bundle.run, found)]


def _settling(name: str, windows: int) -> Estimate:
    source = "windows left out, before the last ones, which make the figures"
    return Estimate(name=f"{name}.settling_windows", value=windows, unit="", source=source)


def _ceiling(place: Place) -> Estimate:
    name = ".".join(filter(None, ("io", place.arm.key, "ceiling_ms")))
    ceiling = place.arm.ceiling
    source = "the plan" if ceiling.of == "p95" else f"the plan; for {ceiling.of}"
    return Estimate(name=name, value=ceiling.ms, unit="ms", source=source)
