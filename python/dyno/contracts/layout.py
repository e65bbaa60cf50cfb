"""A layout resolved for a workload: all names are known, all bounds are explicit."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dyno.bundle.model import Model

IndexSet = Literal["none", "keys", "keys+foreign", "default", "default+foreign"]
Form = Literal["row", "column"]
Side = Literal["right", "left"]
Compression = Literal["none", "row", "page"]


class Partition(Model):
    """One range partition.

    Attributes:
        low: The first value in it; None without a lower bound.
        high: The first value after it; None without an upper bound.
        volume: Volume of its data; None for the table's volume.
    """

    name: str
    low: str | None = None
    high: str | None = None
    volume: str | None = None


class IndexDesign(Model):
    """An index beyond the set.

    Attributes:
        form: ``column`` for a column store index beside the rows of the table.
    """

    name: str
    columns: tuple[str, ...]
    form: Form = "row"


class TableDesign(Model):
    """The design of one table.

    Attributes:
        form: None for the engine's default.
        compression: Of the rows, by row or by page; None for the engine's default.
        partition_by: The partition column, if any.
        bounds: The given or computed bounds; ``partitions`` has the resulting ranges.
        side: The partition that includes the bound itself.
        cluster: Columns that the rows are sorted by, once, during the load.
        volume: Volume of the table; None for the layout's ``data``.
    """

    form: Form | None = None
    compression: Compression | None = None
    partition_by: str | None = None
    bounds: tuple[str, ...] = ()
    side: Side = "right"
    partitions: tuple[Partition, ...] = ()
    cluster: tuple[str, ...] = ()
    indexes: tuple[IndexDesign, ...] = ()
    volume: str | None = None


class Layout(Model):
    """A physical design for the tables of one workload.

    Attributes:
        source: The file it was read from; ``preset`` for a shipped one.
        indexes: Keys and indexes: ``none``; ``keys`` (primary); ``keys+foreign``;
            ``default``, the target's standard design with the workload's secondary indexes if the
            target uses them; ``default+foreign``.
        tables: Tables whose design differs from the target's default.
        data, log, temp: Volumes of tables, write-ahead log and temporary files; None for the
            target's default. A volume is a folder or ``tablespace:NAME``.
        preallocate_bytes: Space to preallocate before the load; 0 for none.
        notes: Caveats of the results, such as two volumes on one device.
    """

    name: str
    source: str = "preset"
    workload: str
    indexes: IndexSet = "default"
    tables: dict[str, TableDesign] = Field(default_factory=dict)
    data: str | None = None
    log: str | None = None
    temp: str | None = None
    preallocate_bytes: int = 0
    notes: tuple[str, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether it is the target's default design."""
        placed = self.data or self.log or self.temp or self.preallocate_bytes
        return self.indexes == "default" and not self.tables and not placed

    @property
    def primary_keys(self) -> bool:
        """Whether tables get their primary keys."""
        return self.indexes != "none"

    @property
    def foreign_keys(self) -> bool:
        """Whether foreign keys are declared, so the server checks them."""
        return self.indexes.endswith("+foreign")

    @property
    def secondary(self) -> bool:
        """Whether the workload's secondary indexes are created."""
        return self.indexes.startswith("default")

    def design(self, table: str) -> TableDesign:
        """The design of a table; the default one if the layout does not name it."""
        return self.tables.get(table, _PLAIN)

    def volume_of(self, table: str, partition: Partition | None = None) -> str | None:
        """The volume of a table or of one of its partitions; None for the target's default."""
        own = partition.volume if partition is not None else None
        return own or self.design(table).volume or self.data

    def data_volumes(self) -> list[str]:
        """Volumes with tables, each once, in the order of the layout."""
        found = [self.data]
        for name, design in self.tables.items():
            found += [self.volume_of(name, part) for part in design.partitions or (None,)]
        return list(dict.fromkeys(volume for volume in found if volume is not None))


_PLAIN = TableDesign()
TABLESPACE = "tablespace:"
"""Prefix of a volume that names an existing tablespace."""
