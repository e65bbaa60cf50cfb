"""Renders charts to inline SVG that is safe, small, themed by the page and accessible.

Chart text comes from bundles, which are untrusted. Only shapes and text reach the page: the SVG
is parsed, and elements and attributes that are not on the allowlist are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any
from xml.etree import ElementTree as ET

from markupsafe import Markup

from dyno.report.kit.charts import theme
from dyno.report.kit.charts.renderer import RENDERER, NoChart
from dyno.safety.text import plain

WIDE, NARROW = "wide", "narrow"

Row = Any
"""A data row: a dataclass or a dict with the names that the encodings use."""

_SVG = "http://www.w3.org/2000/svg"
_ELEMENTS = frozenset({"svg", "g", "path", "line", "rect", "text", "tspan", "circle", "defs"})
_ATTRIBUTES = frozenset(
    {
        *("d", "x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "r", "cx", "cy", "width", "height"),
        *("transform", "viewBox", "fill", "fill-opacity", "stroke", "stroke-width"),
        *("stroke-opacity", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity"),
        *("text-anchor", "font-size", "font-weight", "stroke-miterlimit"),
    }
)
_DEFAULTS = {("opacity", "1"), ("stroke-miterlimit", "10")}
_LONG_DECIMAL = re.compile(r"-?\d+\.\d{3,}")


class Data:
    """Named chart data: Altair copies and checks a chart many times while it is built."""

    def __init__(self) -> None:
        self.rows: dict[str, list[dict[str, Any]]] = {}

    def named(self, rows: Iterable[Row]) -> Any:
        """Altair's reference to ``rows``."""
        import altair as alt

        name = f"data{len(self.rows)}"
        self.rows[name] = [dict(row) if isinstance(row, dict) else asdict(row) for row in rows]
        return alt.NamedData(name)


@dataclass(frozen=True)
class Chart:
    """An Altair chart of any kind (the classes share no type), and its data."""

    chart: Any
    data: Data


Draw = Callable[[int], Chart]
"""Draws a chart with a plot of the given width in pixels, without the axis."""


@dataclass(frozen=True)
class Size:
    """Widths of the plot on a wide and on a narrow page, in CSS pixels."""

    wide: int
    narrow: int = 268

    def variants(self) -> list[tuple[str, int]]:
        """Each variant with its width."""
        return [(WIDE, self.wide), (NARROW, self.narrow)]


def render(draw: Draw, size: Size, alt_text: str) -> Markup:
    """Renders the wide and the narrow variant; the page's style shows the one that fits.

    On failure, returns a line with the reason.

    Args:
        draw: Draws the chart.
        size: Its widths.
        alt_text: The text alternative.
    """
    from altair.utils import schemapi

    try:
        # Altair otherwise validates each object as it is made, for most of the time of a page:
        # tests do so, and the renderer refuses what it cannot draw.
        with schemapi.debug_mode(False):
            return Markup("").join(
                _svg(draw(width), variant, alt_text) for variant, width in size.variants()
            )
    except NoChart as error:
        text = plain(f"Chart not drawn: {error}. Its values are in the tables.")
        return Markup('<p class="no-chart">{}</p>').format(text)


def _svg(chart: Chart, variant: str, alt_text: str) -> Markup:
    spec = {
        **chart.chart.to_dict(validate=False),
        "config": theme.config(),
        "datasets": chart.data.rows,
    }
    text = RENDERER.svg(_printable(spec))
    # The renderer's own output, with escaped text: it has no entities or document types.
    root = _clean(ET.fromstring(text))  # noqa: S314
    if root is None:
        return Markup("")
    width, height = root.get("width", "100"), root.get("height", "100")
    root.set("class", f"chart {variant}")
    root.set("role", "img")
    root.set("aria-label", alt_text)
    root.set("preserveAspectRatio", "xMinYMin meet")
    root.set("style", f"aspect-ratio:{width}/{height};max-width:{width}px")
    for attribute in ("width", "height"):
        root.attrib.pop(attribute, None)
    return Markup(ET.tostring(root, encoding="unicode"))  # noqa: S704  (cleaned above)


def _printable(value: Any) -> Any:
    """Replaces characters in the specification's texts that XML cannot represent."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, dict):
        return {plain(str(name)): _printable(item) for name, item in value.items()}
    return [_printable(item) for item in value] if isinstance(value, list) else value


def _clean(element: ET.Element) -> ET.Element | None:
    """The element without forbidden parts, or None if it is forbidden or invisible."""
    tag = element.tag.removeprefix(f"{{{_SVG}}}")
    if tag not in _ELEMENTS or element.get("display") == "none":
        return None
    if tag == "path" and (not element.get("d") or _invisible(element)):
        return None
    kept = ET.Element(tag)
    for name, value in element.attrib.items():
        if name in _ATTRIBUTES and (name, value) not in _DEFAULTS:
            kept.set(name, _value(name, value))
    kept.text = element.text if tag in ("text", "tspan") else None
    label = element.get("aria-label")
    if label and element.get("role") == "graphics-symbol" and len(element) == 0:
        title = ET.SubElement(kept, "title")
        title.text = label
    for child in element:
        below = _clean(child)
        if below is not None:
            kept.append(below)
    if tag == "g" and len(kept) == 0:
        return None
    return kept


def _invisible(element: ET.Element) -> bool:
    """Whether it is invisible, as most group backgrounds of the renderer are."""
    return element.get("class") in ("background", "foreground") and not (
        element.get("fill") or element.get("stroke")
    )


def _value(name: str, value: str) -> str:
    if name in ("fill", "stroke"):
        variable = theme.VARIABLES.get(value.lower())
        return f"var({variable},{value})" if variable else value
    return _LONG_DECIMAL.sub(lambda match: f"{float(match[0]):.2f}".rstrip("0").rstrip("."), value)
