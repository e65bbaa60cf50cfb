"""Where a database has its files: mount point, device, RAID, size and free space by role."""

from __future__ import annotations

from typing import Any

from dyno.report.kit.blocks import NOTHING, Cell, Column, Table
from dyno.report.kit.formats import decimal_bytes
from dyno.report.run.devices import role_name
from dyno.report.run.page import Page

_COLUMNS = ("Database", "Files", "Mount point", "File system", "Device", "RAID, layers")
_SIZES = ("Size", "Free", "Free, %")


def table(page: Page) -> Table | None:
    """A row for each file system of each database, with the roles of the files on it."""
    rows: list[list[str | Cell]] = []
    for target, facts in page.run.targets.items():
        roles: dict[tuple[str, str], list[str]] = {}
        places: dict[tuple[str, str], dict[str, Any]] = {}
        for role, place in facts.volumes.items():
            key = (_text(place, "mount_point"), _text(place, "device"))
            roles.setdefault(key, []).append(role_name(role))
            places[key] = place
        rows += [
            [page.title(target), ", ".join(roles[key]), *_row(place)]
            for key, place in places.items()
        ]
    if not rows:
        return None
    columns = [Column(name) for name in _COLUMNS]
    columns += [Column(name, numeric=True) for name in _SIZES]
    note = "As found when the database was last looked at in this run."
    return Table("Where the files are", columns, rows, note)


def _row(place: dict[str, Any]) -> list[str | Cell]:
    layers = place.get("layers")
    made = layers if isinstance(layers, list) else []
    raid = " on ".join(str(one) for one in made) or ("none" if place.get("device") else NOTHING)
    size, free = (_number(place, name) for name in ("size_bytes", "free_bytes"))
    sizes = [NOTHING if value is None else decimal_bytes(value) for value in (size, free)]
    share = f"{100 * free / size:.0f}" if size and free is not None else NOTHING
    return [*(_text(place, name) for name in ("mount_point", "fs_type", "device")), raid, *sizes,
            share]  # fmt: skip


def _text(place: dict[str, Any], name: str) -> str:
    value = place.get(name)
    return value if isinstance(value, str) and value else NOTHING


def _number(place: dict[str, Any], name: str) -> float | None:
    """A number of a bundle, which may be of others."""
    value = place.get(name)
    return value if isinstance(value, (int, float)) and 0 <= value < 1e24 else None
