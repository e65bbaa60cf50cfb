"""What a section of the sheet is made of: data only, rendered by the template."""

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
        numeric: Set flush right with digits of equal width.
        wide: Holds sentences, and is not squeezed on a narrow page.
    """

    label: str
    numeric: bool = False
    wide: bool = False


@dataclass(frozen=True)
class Cell:
    """A value that stands out, with a word on why for those who do not see the colour.

    Attributes:
        link: Where it leads, relative to the page; whoever makes it has seen to what is in it.
    """

    text: str
    tone: Tone = ""
    hint: str = ""
    link: str = ""


@dataclass(frozen=True)
class Table:
    """A table. The first cell of a row is its heading.

    Attributes:
        notice: Where the figures derive from a TPC workload; the section shows each notice once.
        folded: Shown only on demand.
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
        """Whether it stays folded on paper too, unless the reader opened it."""
        return self.folded and len(self.rows) > _MOST_PRINTED_ROWS


_MOST_PRINTED_ROWS = 12

NOTHING = "–"
"""What stands where there is no figure."""


def without_empty(
    columns: Sequence[Column], rows: Sequence[Sequence[str | Cell]]
) -> tuple[list[Column], list[list[str | Cell]]]:
    """Columns in which any row has something, and the rows without the others."""
    kept = [
        place
        for place in range(len(columns))
        if any(row[place] not in {NOTHING, ""} for row in rows)
    ]
    return [columns[place] for place in kept], [[row[place] for place in kept] for row in rows]


@dataclass(frozen=True)
class Key:
    """What a mark in a chart stands for: its shape's outline and its colour's variable."""

    name: str
    outline: str
    variable: str


@dataclass(frozen=True)
class Figure:
    """A chart: its SVG, which is markup that ``charts.render`` made safe, and what it shows."""

    svg: Markup
    caption: str
    keys: Sequence[Key] = ()
    notice: str = ""
    kind: Literal["figure"] = "figure"


@dataclass(frozen=True)
class Row:
    """Blocks side by side on a wide page; the first is the wider one unless they are even."""

    blocks: Sequence[Figure | Table]
    even: bool = False
    kind: Literal["row"] = "row"


@dataclass(frozen=True)
class Fact:
    """A term and what holds of it."""

    term: str
    text: str


@dataclass(frozen=True)
class Facts:
    """Terms and values."""

    facts: Sequence[Fact]
    kind: Literal["facts"] = "facts"


@dataclass(frozen=True)
class Card:
    """A headline figure."""

    label: str
    value: str
    unit: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Cards:
    """Headline figures that belong together."""

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
    """Lines under one another."""

    notes: Sequence[Note]
    kind: Literal["notes"] = "notes"


@dataclass(frozen=True)
class Code:
    """A command to type."""

    text: str
    kind: Literal["code"] = "code"


@dataclass(frozen=True)
class Text:
    """Text in lines that stay as they are, shown on demand."""

    caption: str
    text: str
    kind: Literal["text"] = "text"


@dataclass(frozen=True)
class Heading:
    """A title of what follows in a section."""

    text: str
    kind: Literal["heading"] = "heading"


Block = Table | Figure | Row | Facts | Cards | Notes | Code | Text | Heading


@dataclass(frozen=True)
class Section:
    """A part of the sheet.

    Attributes:
        ident: Its anchor.
        lead: A sentence or two under the title.
        folded: For those who look something up: only its title is shown until it is opened.
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
        told = [block.notice for block in inner if isinstance(block, Table | Figure | Cards)]
        return [notice for notice in dict.fromkeys(told) if notice]
