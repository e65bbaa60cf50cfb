"""A layout on several volumes without writing each down: tables and partitions spread over them."""

from __future__ import annotations

from collections.abc import Sequence

from dyno.contracts import schema
from dyno.contracts.layout import Layout
from dyno.errors import UsageError
from dyno.layouts.volumes import table_bytes


def spread(layout: Layout, places: Sequence[str], scale: float, days: int | None = None) -> Layout:
    """The same design with everything on ``places``.

    The partitions of a table go to them in turn; then the other tables, the largest first, each to
    the place that has the least so far. So one place more or less changes nothing but where things
    lie.

    Raises:
        UsageError: If the layout places tables itself.
    """
    if layout.data_volumes():
        raise UsageError(
            f"Layout {layout.name} already places its tables; omit --spread and --volumes."
        )
    sizes = {
        name: table_bytes(layout.workload, name, scale, days)
        for name in schema.table_names(layout.workload)
    }
    filled = dict.fromkeys(places, 0.0)
    tables = dict(layout.tables)
    partitioned = [name for name in sizes if layout.design(name).partitions]
    for name in partitioned:
        design = layout.design(name)
        parts = tuple(
            part.model_copy(update={"volume": places[number % len(places)]})
            for number, part in enumerate(design.partitions)
        )
        for part in parts:
            filled[part.volume or ""] += sizes[name] / len(parts)
        tables[name] = design.model_copy(update={"partitions": parts})
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        if name not in partitioned:
            place = min(places, key=lambda place: filled[place])
            filled[place] += sizes[name]
            tables[name] = layout.design(name).model_copy(update={"volume": place})
    return layout.model_copy(update={"tables": tables})
