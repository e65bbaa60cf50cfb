"""The parts of a section: plain data, rendered by the template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

Tone = Literal["", "good", "bad", "muted"]


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        numeric: Right-aligned with tabular digits.
        wide: Holds sentences; keeps its width on a narrow page.
    """

    label: str
    numeric: bool = False
    wide: bool = False


@dataclass(frozen=True)
class Cell:
    """A highlighted value, with a hint for readers who cannot see the colour.

    Attributes:
        link: Relative to the page; the caller ensures that it is safe.
    """

    text: str
    tone: Tone = ""
    hint: str = ""
    link: str = ""


@dataclass(frozen=True)
class Table:
    """A table. The first cell of a row is its heading.

    Attributes:
        notice: For metrics of a TPC-derived workload; the section shows each notice once.
        folded: Collapsed by default.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str | Cell]]
    note: str = ""
    notice: str = ""
    folded: bool = False
    kind: Literal["table"] = "table"

    @property
    def long(self) -> bool:
        """Whether it also stays folded in print."""
        return self.folded and len(self.rows) > _MOST_PRINTED_ROWS


_MOST_PRINTED_ROWS = 12

NOTHING = "–"
"""Placeholder for a missing value."""


def without_empty(
    columns: Sequence[Column], rows: Sequence[Sequence[str | Cell]]
) -> tuple[list[Column], list[list[str | Cell]]]:
    """Removes columns without any value."""
    kept = [
        place
        for place in range(len(columns))
        if any(row[place] not in {NOTHING, ""} for row in rows)
    ]
    return [columns[place] for place in kept], [[row[place] for place in kept] for row in rows]


@dataclass(frozen=True)
class Key:
    """A legend entry: the outline of its shape and its colour variable."""

    name: str
    outline: str
    variable: str


@dataclass(frozen=True)
class Figure:
    """A chart: its SVG, sanitised by ``charts.render``, and its caption."""

    svg: Markup
    caption: str
    keys: Sequence[Key] = ()
    notice: str = ""
    kind: Literal["figure"] = "figure"


@dataclass(frozen=True)
class Row:
    """Blocks side by side on a wide page; the first is wider unless ``even``."""

    blocks: Sequence[Figure | Table]
    even: bool = False
    kind: Literal["row"] = "row"


@dataclass(frozen=True)
class Fact:
    """A term and its value."""

    term: str
    text: str


@dataclass(frozen=True)
class Facts:
    """Terms and values."""

    facts: Sequence[Fact]
    kind: Literal["facts"] = "facts"


@dataclass(frozen=True)
class Card:
    """A headline metric."""

    label: str
    value: str
    unit: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Cards:
    """A group of headline metrics."""

    title: str
    cards: Sequence[Card]
    notice: str = ""
    kind: Literal["cards"] = "cards"


@dataclass(frozen=True)
class Note:
    """A line that warns or explains."""

    text: str
    tone: Tone = ""


@dataclass(frozen=True)
class Notes:
    """A list of notes."""

    notes: Sequence[Note]
    kind: Literal["notes"] = "notes"


@dataclass(frozen=True)
class Code:
    """A command to type."""

    text: str
    kind: Literal["code"] = "code"


@dataclass(frozen=True)
class Text:
    """Preformatted text, collapsed by default."""

    caption: str
    text: str
    kind: Literal["text"] = "text"


@dataclass(frozen=True)
class Heading:
    """A subheading."""

    text: str
    kind: Literal["heading"] = "heading"


Block = Table | Figure | Row | Facts | Cards | Notes | Code | Text | Heading


@dataclass(frozen=True)
class Section:
    """A section of the report.

    Attributes:
        ident: Its anchor.
        lead: A sentence or two under the title.
        folded: Collapsed by default.
    """

    ident: str
    title: str
    blocks: Sequence[Block]
    lead: str = ""
    folded: bool = False

    @property
    def notices(self) -> list[str]:
        """The notices of its blocks, each once."""
        inner = [
            block
            for outer in self.blocks
            for block in (outer.blocks if isinstance(outer, Row) else [outer])
        ]
        found = [block.notice for block in inner if isinstance(block, Table | Figure | Cards)]
        return [notice for notice in dict.fromkeys(found) if notice]
