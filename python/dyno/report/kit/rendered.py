"""From a head and sections to one HTML page that needs no network and no script."""

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
    """What a page says first.

    Attributes:
        reasons: Each with a word that it is about.
        warnings: Shown on demand if they are many.
        meaning: What the stamp means for the values, in a sentence.
    """

    tone: str
    stamp: str
    words: str
    reasons: tuple[Reason, ...]
    warnings: tuple[str, ...]
    meaning: str = ""


@dataclass(frozen=True)
class Head:
    """What stands above the sections."""

    brand: str
    title: str
    heading: str
    meta: str
    verdict: Verdict


def rendered(head: Head, sections: Sequence[Section], made: str, notices: Sequence[str]) -> str:
    """The page. All text is escaped: it may be anybody's.

    Args:
        head: Above the sections.
        sections: In their order.
        made: How the page was made, for its foot.
        notices: For its foot.
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
    style = (_TEMPLATES / "sheet.css").read_text(encoding="utf-8")
    html = environment.get_template("sheet.html.j2").render(
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
    # JSON can hold halves of surrogate pairs, which no file can.
    return html.encode("utf-8", "replace").decode("utf-8")


def _unit_stays(label: str) -> str:
    """The heading of a column whose unit stays on the line of its last word: ``Total, s``."""
    return _UNIT.sub(",\N{NO-BREAK SPACE}", label)


def _percent_stays(text: str) -> str:
    """A sentence whose figures stay on one line with their per cent sign."""
    return _PERCENT.sub("\N{NO-BREAK SPACE}", text)
