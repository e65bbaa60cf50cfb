"""The parts that a layout can be made of, and what a target says of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dyno.contracts.layout import TABLESPACE, Layout, TableDesign
from dyno.errors import UsageError

_NO = "its tables have one fixed physical design"
_NO_COMPRESSION = "Dyno does not set the compression of its rows or pages"
_NO_COLUMN_INDEX = "it has no column store index beside the rows of a table"


@dataclass(frozen=True)
class LayoutParts:
    """What of a layout a target can do. A string says why it cannot.

    Attributes:
        partitions: Range partitions of a table.
        no_keys: Tables without primary keys.
        primary_keys: Primary keys where the target would make none by itself, and with it.
        foreign_keys: Foreign keys.
        secondary: A choice of secondary indexes.
        cluster: Rows sorted by columns.
        row, column: The form of a table.
        column_index: A column store index beside the rows of a table.
        compression: Compression of rows or pages.
        data: Tables, or partitions, on volumes of their own.
        log: The write-ahead log on a volume of its own.
        temp: Temporary files on a volume of their own.
        preallocate: Space reserved before the load.
        tablespaces: Volumes that are tablespaces of the user's.
        elsewhere: Whether its volumes are those of a server's machine, which Dyno does not see.
    """

    partitions: bool | str = field(default=_NO)
    no_keys: bool | str = field(default=_NO)
    primary_keys: bool | str = field(default=_NO)
    foreign_keys: bool | str = field(default=_NO)
    secondary: bool | str = field(default=_NO)
    cluster: bool | str = field(default=_NO)
    row: bool | str = field(default=_NO)
    column: bool | str = field(default=_NO)
    column_index: bool | str = field(default=_NO_COLUMN_INDEX)
    compression: bool | str = field(default=_NO_COMPRESSION)
    data: bool | str = field(default=_NO)
    log: bool | str = field(default=_NO)
    temp: bool | str = field(default=_NO)
    preallocate: bool | str = field(default=_NO)
    tablespaces: bool | str = field(default="it has no tablespaces")
    elsewhere: bool = False


def needed(layout: Layout) -> Iterator[tuple[str, str]]:
    """The parts that a layout asks for, as fields of ``LayoutParts``, with what asks for it."""
    if layout.indexes != "default":
        asked = f"indexes = '{layout.indexes}'"
        yield ("primary_keys" if layout.primary_keys else "no_keys"), asked
    if layout.foreign_keys:
        yield "foreign_keys", f"indexes = '{layout.indexes}'"
    for name, design in layout.tables.items():
        yield from _of_table(name, design)
    volumes = layout.data_volumes()
    if volumes:
        yield "data", f"data on {volumes[0]}"
    for part, volume in (("log", layout.log), ("temp", layout.temp)):
        if volume is not None:
            yield part, f"{part} on {volume}"
    if layout.preallocate_bytes:
        yield "preallocate", "preallocate"
    for volume in (*volumes, layout.log, layout.temp):
        if volume is not None and volume.startswith(TABLESPACE):
            yield "tablespaces", volume


def _of_table(name: str, design: TableDesign) -> Iterator[tuple[str, str]]:
    if design.partitions:
        yield "partitions", f"{name} is partitioned"
    if design.cluster:
        yield "cluster", f"{name} is clustered by {', '.join(design.cluster)}"
    for index in design.indexes:
        part = "secondary" if index.form == "row" else "column_index"
        yield part, f"{name} has an index {index.name}"
    if design.compression is not None:
        yield "compression", f"{name} with compression = '{design.compression}'"
    if design.form is not None:
        yield design.form, f"{name} in {design.form} form"


def require(layout: Layout, parts: LayoutParts, target: str) -> None:
    """Refuses a layout that a target cannot have.

    Raises:
        UsageError: With the target's reason for the first part that it cannot do.
    """
    for part, asked in needed(layout):
        reason = getattr(parts, part)
        if reason is not True:
            raise UsageError(
                f"The {target} target does not support layout {layout.name} ({asked}): {reason}."
            )
