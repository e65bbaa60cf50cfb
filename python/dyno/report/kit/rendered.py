"""Renders a head and sections to one HTML page without network access or scripts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dyno.bundle.model import Reason
from dyno.report.kit.blocks import Section

_UNIT = re.compile(r", (?=\S{1,4}$)")
_PERCENT = re.compile(r"(?<=\d) (?=%)")
_TEMPLATES = Path(__file__).with_name("templates")


@dataclass(frozen=True)
class Verdict:
    """The verdict box.

    Attributes:
        reasons: Each with its code.
        warnings: Folded if there are many.
        meaning: What the verdict means for the results.
    """

    tone: str
    stamp: str
    words: str
    reasons: tuple[Reason, ...]
    warnings: tuple[str, ...]
    meaning: str = ""


@dataclass(frozen=True)
class Head:
    """The page header."""

    brand: str
    title: str
    heading: str
    meta: str
    verdict: Verdict


def rendered(head: Head, sections: Sequence[Section], made: str, notices: Sequence[str]) -> str:
    """The page. All text is escaped: it is untrusted.

    Args:
        head: The page header.
        sections: In order.
        made: How the page was generated, for the footer.
        notices: For the footer.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["unit_stays"] = _unit_stays
    environment.filters["percent_stays"] = _percent_stays
    style = (_TEMPLATES / "report.css").read_text(encoding="utf-8")
    html = environment.get_template("report.html.j2").render(
        brand=head.brand,
        title=head.title,
        heading=head.heading,
        meta=head.meta,
        verdict=head.verdict,
        sections=sections,
        style=Markup(style),  # noqa: S704  (our own file)
        made=made,
        notices=notices,
    )
    # JSON may contain lone surrogates, which UTF-8 cannot encode.
    return html.encode("utf-8", "replace").decode("utf-8")


def _unit_stays(label: str) -> str:
    """A column label without a line break before its unit: ``Total, s``."""
    return _UNIT.sub(",\N{NO-BREAK SPACE}", label)


def _percent_stays(text: str) -> str:
    """A sentence without line breaks before per cent signs."""
    return _PERCENT.sub("\N{NO-BREAK SPACE}", text)
