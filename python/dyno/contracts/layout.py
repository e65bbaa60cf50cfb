"""A layout that fits a workload: every name known, every bound written out."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dyno.bundle.model import Model

IndexSet = Literal["none", "keys", "keys+foreign", "default", "default+foreign"]
Form = Literal["row", "column"]
Side = Literal["right", "left"]


class Partition(Model):
    """One range partition.

    Attributes:
        low: The first value in it; None if nothing bounds it below.
        high: The first value that is no longer in it; None if nothing bounds it above.
        volume: Where its data lies; None for the table's own volume.
    """

    name: str
    low: str | None = None
    high: str | None = None
    volume: str | None = None


class IndexDesign(Model):
    """An index beyond the set."""

    name: str
    columns: tuple[str, ...]


class TableDesign(Model):
    """The design of one table.

    Attributes:
        form: None for what the engine does by itself.
        partition_by: The column of the partitions, if there are any.
        bounds: The bounds as they were given or spread; ``partitions`` says what they amount to.
        side: The partition that a bound itself belongs to.
        cluster: Columns that the rows are sorted by, once, at the load.
        volume: Where the table lies; None for the layout's ``data``.
    """

    form: Form | None = None
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
        indexes: Which keys and indexes: ``none``; ``keys`` (primary); ``keys+foreign``;
            ``default``, which is the target's standard design, with the workload's secondary
            indexes where the target uses such; ``default+foreign``.
        tables: Tables whose design differs from the target's own.
        data, log, temp: Volumes for tables, write-ahead log and temporary files; None leaves
            them where the target has them. A volume is a folder or ``tablespace:NAME``.
        preallocate_bytes: Room to claim before the load; 0 for none.
        notes: What a reader of the figures should know, such as two volumes on one device.
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
        """Whether it asks for nothing but the target's own design."""
        placed = self.data or self.log or self.temp or self.preallocate_bytes
        return self.indexes == "default" and not self.tables and not placed

    @property
    def primary_keys(self) -> bool:
        """Whether tables get their primary keys."""
        return self.indexes != "none"

    @property
    def foreign_keys(self) -> bool:
        """Whether foreign keys are declared, and so checked by the server."""
        return self.indexes.endswith("+foreign")

    @property
    def secondary(self) -> bool:
        """Whether the workload's secondary indexes are made."""
        return self.indexes.startswith("default")

    def design(self, table: str) -> TableDesign:
        """The design of a table; that of a plain one if nothing is said of it."""
        return self.tables.get(table, _PLAIN)

    def volume_of(self, table: str, partition: Partition | None = None) -> str | None:
        """Where a table or one of its partitions lies; None for the target's own place."""
        own = partition.volume if partition is not None else None
        return own or self.design(table).volume or self.data

    def data_volumes(self) -> list[str]:
        """Volumes that hold tables, each once, in the order of the layout."""
        found = [self.data]
        for name, design in self.tables.items():
            found += [self.volume_of(name, part) for part in design.partitions or (None,)]
        return list(dict.fromkeys(volume for volume in found if volume is not None))


_PLAIN = TableDesign()
TABLESPACE = "tablespace:"
"""How a volume begins that names a tablespace of the user's own."""
