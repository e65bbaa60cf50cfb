"""The windows of a load that is repeated until steady."""

from __future__ import annotations

from collections.abc import Sequence

from dyno.profiles.steps import Step, steps
from dyno.report.kit.blocks import Figure
from dyno.report.kit.charts import lines
from dyno.report.kit.charts.keys import keys
from dyno.report.kit.charts.render import Size, render
from dyno.report.kit.formats import rounded
from dyno.report.run.page import Page
from dyno.report.storage.curves import Curve
from dyno.report.storage.places import FilledSet

_SIZE = Size(550)


def settling(page: Page, place: FilledSet) -> list[Figure]:
    """A chart for each repeated curve, of its first repetition."""
    curves = [curve for curve in place.curves if curve.settled is not None]
    if not curves:
        return []
    own = [
        step
        for step in steps(page.bundle)
        if (step.volume_set, step.stage) == (place.volume_set.label, place.stage.index)
        and step.purpose == "settle"
    ]
    found: list[Figure] = []
    for curve in curves:
        of_it = [step for step in own if step.curve == curve.name]
        times = len({step.repeat for step in of_it})
        first = [step for step in of_it if step.repeat == of_it[0].repeat]
        left_out = round((page.value(curve.metrics.settling_windows) or 0.0) / max(1, times))
        if len(first) > 1:
            found.append(_figure(curve, place, first, left_out))
    return found


def _figure(curve: Curve, place: FilledSet, windows: Sequence[Step], left_out: int) -> Figure:
    points = [
        lines.Point(
            "left out" if number <= left_out else "counted",
            number,
            step.iops,
            f"window {number}, {'left out' if number <= left_out else 'counted'}: "
            f"{rounded(step.iops)} IOPS",
        )
        for number, step in enumerate(windows, 1)
    ]
    # Counted windows always have the first colour.
    points.sort(key=lambda point: point.series)
    caption = (
        f"{curve.title}{place.of}: IOPS by window, until the counted windows agree without a trend."
    )
    return Figure(
        render(
            lambda width: lines.lines(points, "Window", "IOPS", width),
            _SIZE,
            f"{caption} " + "; ".join(point.words for point in points),
        ),
        caption,
        keys([point.series for point in points], shapes=True),
    )
