"""A layout as it is written: TOML, read strictly.

indexes = "default"                  # none, keys, keys+foreign, default, default+foreign
preallocate_gb = 10.0

[volumes]                            # folders, or tablespace:NAME
data = "/mnt/a"
log = "/mnt/b"
temp = "/mnt/c"

[tables.lineitem]
form = "column"                      # or row
cluster = ["l_shipdate"]
volume = "/mnt/d"
indexes = [{ columns = ["l_receiptdate"] }]

[tables.lineitem.partition]
column = "l_shipdate"
count = 8                            # or bounds = ["1993-01-01", …]
side = "right"                       # the partition that a bound belongs to
volumes = ["/mnt/a", "/mnt/b"]       # round robin
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field, ValidationError

from dyno import layouts
from dyno.errors import UsageError, nearest
from dyno.layouts.model import Form, IndexSet, Side
from dyno.model import Model

MOST_PARTITIONS = 1000


class _Strict(Model):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class PartitionSpec(_Strict):
    """Range partitions of a table."""

    column: str
    count: int | None = Field(default=None, ge=2, le=MOST_PARTITIONS)
    bounds: list[Any] | None = Field(default=None, min_length=1, max_length=MOST_PARTITIONS - 1)
    side: Side = "right"
    volumes: list[str] = Field(default_factory=list)


class IndexSpec(_Strict):
    """An index beyond the set."""

    columns: list[str] = Field(min_length=1)
    name: str | None = Field(default=None, pattern=r"^[a-z_][a-z0-9_]{0,50}$")


class TableSpec(_Strict):
    """The design of one table."""

    form: Form | None = None
    partition: PartitionSpec | None = None
    cluster: list[str] = Field(default_factory=list)
    indexes: list[IndexSpec] = Field(default_factory=list[IndexSpec])
    volume: str | None = None


class VolumesSpec(_Strict):
    """Where things lie."""

    data: str | None = None
    log: str | None = None
    temp: str | None = None


class Spec(_Strict):
    """A whole layout. ``form`` is that of all tables which do not say their own."""

    indexes: IndexSet = "default"
    form: Form | None = None
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
    if text in layouts.names():
        return text, "preset", parse(text, (layouts.FOLDER / f"{text}.toml").read_text("utf-8"))
    path = Path(text).expanduser()
    if path.suffix != ".toml" and "/" not in text:
        hint = nearest(text, layouts.names())
        known = ", ".join(layouts.names())
        also = "" if hint.startswith("Known") else f" Known: {known}."
        raise UsageError(f"Unknown layout '{text}'. {hint}{also} A file ends in .toml.")
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise UsageError(f"Cannot read the layout {path}: {reason}.") from error
    return path.stem, str(path.absolute()), parse(str(path), content)


def parse(name: str, content: str) -> Spec:
    """Reads TOML as a layout.

    Raises:
        UsageError: One line on the first thing that is wrong.
    """
    try:
        return Spec.model_validate(tomllib.loads(content))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"Layout {name} is no TOML: {error}.") from error
    except ValidationError as error:
        raise UsageError(f"Layout {name}: {_explain(error)}") from error


_KNOWN: dict[tuple[str, ...], type[Model]] = {
    (): Spec,
    ("volumes",): VolumesSpec,
    ("tables", "*"): TableSpec,
    ("tables", "*", "partition"): PartitionSpec,
    ("tables", "*", "indexes", "*"): IndexSpec,
}


def _explain(error: ValidationError) -> str:
    """The first fault; unknown keys first, since they explain keys that are missing."""
    faults = sorted(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")
    fault = faults[0]
    place = fault["loc"]
    if fault["type"] == "extra_forbidden":
        known = _KNOWN[_shape(place[:-1])].model_fields
        return f"unknown key '{_path(place)}'. {nearest(str(place[-1]), known)}"
    if fault["type"] == "missing":
        return f"{_path(place)} is missing."
    if fault["type"] == "literal_error":
        wanted = fault["ctx"]["expected"] if "ctx" in fault else ""
        return f"{_path(place)} is {fault['input']!r}; it must be {wanted}."
    return f"{_path(place)} is {fault['input']!r}; {_lower(fault['msg'])}."


def _shape(place: Sequence[str | int]) -> tuple[str, ...]:
    """A place with the names of tables and the numbers of indexes left open."""
    return tuple("*" if at in (1, 3) and place[0] == "tables" and (at == 1 or part != "partition")
                 else str(part) for at, part in enumerate(place))  # fmt: skip


def _path(place: Sequence[str | int]) -> str:
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
