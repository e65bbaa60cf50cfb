"""Loads generated rows into SQLite with the Rust loader: prepared inserts in one transaction.

The loader has its own copy of SQLite, of another version than Python's. Both use the same file
format. But POSIX locks belong to a process and not to a library: if one copy closed the file while
the other works, the locks of both would be released. So no session may be open during a load.

The journal stays enabled, and commits wait for storage. Disabling them gains nothing: pages beyond
the old end of the file need no journal, and one transaction commits once.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dyno.contracts.target import LoadOutcome, LoadPlan
from dyno.targets import compiled
from dyno.targets.sqlite.ddl import exact
from dyno.targets.sqlite.file import BUSY_TIMEOUT_S
from dyno.targets.sqlite.tuning import FOLDER, Change

if TYPE_CHECKING:
    from dyno import _core

_JOURNAL = "journal_mode"
SETTINGS: dict[str, int | str] = {
    "busy_timeout": int(BUSY_TIMEOUT_S * 1000),
    "cache_size": -16_000,  # KiB; rows are appended to a B-tree, which needs no more
    "foreign_keys": 0,  # checked at once afterwards, when the keys exist
    _JOURNAL: "delete",  # a write-ahead log would write everything twice; restored later
    "synchronous": 2,
}
"""Pragmas of the loader's connection, with the values that they read back as."""

_PAGE = 4096
"""Page size in bytes of Dyno's files. It only matters for a log."""


def settings(changes: Sequence[Change], *, shared: bool) -> dict[str, int | str]:
    """These pragmas, with the run's settings.

    A file that is ``shared`` with tables of others keeps its journal mode. The mode is stored in
    the file, so a killed load would leave another one.
    """
    asked = {item.name: item.value(_PAGE) for item in changes if item.name != FOLDER}
    usual = {name: value for name, value in SETTINGS.items() if not shared or name != _JOURNAL}
    return {**usual, **asked}


def load(
    file: Path,
    plan: LoadPlan,
    control: _core.Control,
    changes: Sequence[Change] = (),
    *,
    shared: bool = False,
) -> LoadOutcome:
    """Loads one table after another; ``plan.streams`` threads generate rows during the inserts.

    ``shared`` is whether the file has tables of others. The loader reads each of its settings back,
    and fails on another value.

    Raises:
        _core.EngineError: The error of the loader; the load is rolled back.
    """
    wire: dict[str, Any] = {
        "kind": "sqlite",
        "path": str(file),
        "decimals": "unscaled" if exact(plan.workload) else "real",
        "settings": settings(changes, shared=shared),
    }
    return compiled.load(wire, plan, control)
