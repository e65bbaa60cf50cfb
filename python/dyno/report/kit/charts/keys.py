"""The legend of a chart. It is page text, so that it wraps and uses the page's font."""

from __future__ import annotations

from collections.abc import Sequence

from dyno.report.kit.blocks import Key
from dyno.report.kit.charts import theme


def keys(names: Sequence[str], *, shapes: bool) -> tuple[Key, ...]:
    """A legend entry for each series, in the order of the palette.

    Args:
        names: The series.
        shapes: Whether the chart also distinguishes them by shape; else all are squares, as bars.
    """
    found: list[Key] = []
    for place, name in enumerate(dict.fromkeys(names)):
        shape = theme.SHAPES[place % len(theme.SHAPES)] if shapes else "square"
        colour = theme.SERIES[place % len(theme.SERIES)]
        found.append(Key(name, theme.KEYS[shape], theme.VARIABLES[colour]))
    return tuple(found)
