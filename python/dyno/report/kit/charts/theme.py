"""The chart theme: one palette, with distinct shapes and dashes, for light and dark mode.

The colours are those of Okabe and Ito, chosen for all kinds of colour vision. A rendered chart
contains them as CSS variables, so that the page can set those of the dark scheme.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

BLUE, ORANGE, GREEN = "#0072b2", "#d55e00", "#009e73"
PURPLE, SKY, AMBER = "#cc79a7", "#56b4e9", "#e69f00"
INK, MUTED, GRID, PAGE = "#1a1c20", "#5c6370", "#dfe2e7", "#ffffff"

SERIES = (BLUE, ORANGE, GREEN, PURPLE, SKY, AMBER)
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES: tuple[list[int], ...] = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2], [1, 2])

KEYS = {
    "circle": "M7 2a5 5 0 1 0 0 10a5 5 0 1 0 0-10z",
    "square": "M2.5 2.5h9v9h-9z",
    "triangle-up": "M7 2L12.5 11.5H1.5z",
    "diamond": "M7 1L11.5 7L7 13L2.5 7z",
    "cross": "M5.2 2h3.6v3.2h3.2v3.6h-3.2v3.2h-3.6v-3.2h-3.2v-3.6h3.2z",
    "triangle-down": "M7 12L1.5 2.5H12.5z",
}
"""Outlines of the shapes, 14 pixels square, for the legend."""

VARIABLES = {
    BLUE: "--c-blue",
    ORANGE: "--c-orange",
    GREEN: "--c-green",
    PURPLE: "--c-purple",
    SKY: "--c-sky",
    AMBER: "--c-amber",
    INK: "--ink",
    MUTED: "--muted",
    GRID: "--grid",
    PAGE: "--page",
}
"""The CSS variable of each chart colour."""

FONT_SIZE = 12

_FEWEST_TICKS = 3
_CLOSER_STEPS = ((1, 2, 5), (1, 1.5, 2, 3, 5, 7), tuple(tenth / 10 for tenth in range(10, 100)))


def series_range(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    """A scale that maps each name to the value at its position; values repeat after the last."""
    count = len(values)
    return {"domain": list(names), "range": [values[at % count] for at in range(len(names))]}


def log_ticks(low: float, high: float, steps: Sequence[int] = (1, 2, 5)) -> list[float]:
    """Round ticks between two bounds of a logarithmic axis: at least three, denser if necessary."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found: list[float] = []
    for closer in (steps, *_CLOSER_STEPS):
        values = [step * 10.0**decade for decade in decades for step in closer]
        found = [value for value in values if low * 0.999 <= value <= high * 1.001]
        if len(found) >= _FEWEST_TICKS:
            break
    return found


def config() -> dict[str, Any]:
    """The Vega-Lite ``config`` of every chart."""
    return {
        "background": "transparent",
        "font": "sans-serif",
        "padding": 4,
        "view": {"stroke": None},
        "axis": {
            "domainColor": MUTED,
            "gridColor": GRID,
            "tickColor": MUTED,
            "labelColor": MUTED,
            "titleColor": INK,
            "labelFontSize": FONT_SIZE,
            "titleFontSize": FONT_SIZE,
            "titleFontWeight": "normal",
            "tickSize": 4,
            "labelPadding": 4,
            "titlePadding": 8,
        },
        "title": {
            "color": INK,
            "fontSize": FONT_SIZE,
            "fontWeight": "normal",
            "anchor": "start",
            "offset": 6,
        },
        "text": {"color": INK, "fontSize": FONT_SIZE - 1},
    }
