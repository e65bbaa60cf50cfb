"""A layout as it is written: TOML, read strictly.

indexes = "default"                  # none, keys, keys+foreign, default, default+foreign
preallocate_gb = 10.0

[volumes]                            # folders, or tablespace:NAME
data = "/mnt/a"
log = "/mnt/b"
temp = "/mnt/c"

[tables.lineitem]
form = "column"                      # or row
compression = "page"                 # none, row or page, of a table in row form
cluster = ["l_shipdate"]
volume = "/mnt/d"
indexes = [{ columns = ["l_receiptdate"] }]     # form = "column": a column store index

[tables.lineitem.partition]
column = "l_shipdate"
count = 8                            # or bounds = ["1993-01-01", …]
side = "right"                       # the partition that a bound belongs to
volumes = ["/mnt/a", "/mnt/b"]       # round robin
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from dyno import layouts
from dyno.config import presets, strict
from dyno.config.strict import Strict
from dyno.contracts.layout import Compression, Form, IndexSet, Side

MOST_PARTITIONS = 1000


class PartitionSpec(Strict):
    """Range partitions of a table."""

    column: str
    count: int | None = Field(default=None, ge=2, le=MOST_PARTITIONS)
    bounds: list[Any] | None = Field(default=None, min_length=1, max_length=MOST_PARTITIONS - 1)
    side: Side = "right"
    volumes: list[str] = Field(default_factory=list)


class IndexSpec(Strict):
    """An index beyond the set."""

    columns: list[str] = Field(min_length=1)
    form: Form = "row"
    name: str | None = Field(default=None, pattern=r"^[a-z_][a-z0-9_]{0,50}$")


class TableSpec(Strict):
    """The design of one table."""

    form: Form | None = None
    compression: Compression | None = None
    partition: PartitionSpec | None = None
    cluster: list[str] = Field(default_factory=list)
    indexes: list[IndexSpec] = Field(default_factory=list[IndexSpec])
    volume: str | None = None


class VolumesSpec(Strict):
    """Where things lie."""

    data: str | None = None
    log: str | None = None
    temp: str | None = None


class Spec(Strict):
    """A whole layout. ``form`` and ``compression`` are of all tables that do not set their own."""

    indexes: IndexSet = "default"
    form: Form | None = None
    compression: Compression | None = None
    preallocate_gb: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    volumes: VolumesSpec = VolumesSpec()
    tables: dict[str, TableSpec] = Field(default_factory=dict[str, TableSpec])


def read(text: str) -> tuple[str, str, Spec]:
    """The layout that ``text`` names: a preset, or the path of a file.

    Returns:
        Its name, where it came from (``preset`` or the file), and what it says.

    Raises:
        UsageError: If there is none of that name, or it cannot be read.
    """
    name, source, content = presets.find(layouts.FOLDER, "layout", text)
    return name, source, parse(name if source == "preset" else text, content)


def parse(name: str, content: str) -> Spec:
    """Reads TOML as a layout.

    Raises:
        UsageError: One line on the first thing that is wrong.
    """
    return strict.parse(Spec, f"Layout {name}", content)
