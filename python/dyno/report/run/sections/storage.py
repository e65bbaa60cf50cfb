"""The storage profile."""

from __future__ import annotations

from dyno.report.kit.blocks import Block, Heading, Section
from dyno.report.run.page import Page
from dyno.report.storage.blocks import points
from dyno.report.storage.blocks.compared import compared
from dyno.report.storage.blocks.lead import lead, targets
from dyno.report.storage.blocks.parts import parts
from dyno.report.storage.blocks.place import blocks
from dyno.report.storage.blocks.together import together
from dyno.report.storage.places import places

ORDER = 30

_MOST_PLACES = 4
"""The most volume sets and fill levels with charts; with more, only tables are shown."""


def section(page: Page) -> Section | None:
    """The comparison, then the curves of each volume set at each fill level."""
    found = [place for place in places(page) if place.curves]
    if not found:
        return None
    made: list[Block] = [*targets(found), *compared(page, found)]
    for place in found:
        if place.title:
            made.append(Heading(place.title))
        drawn = len(found) <= _MOST_PLACES
        made += blocks(page, place, drawn=drawn)
        made += together(page, place) if drawn else []
        made += [*parts(page, place), *points.tables(page, place)]
    return Section("storage", "Storage", made, lead(page, found))
