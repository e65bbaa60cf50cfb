"""Generated rows into SQLite, by the compiled loader: prepared inserts in one transaction.

The loader brings a SQLite of its own, another version than Python's. Both read and write the same
format of files. Locks, though, belong to a process and not to a library: if one closed the file
while the other works, the locks of both would go. So no session may be open during a load.

The journal stays on, and commits wait for storage. Nothing is gained without: pages beyond the old
end of the file need no journal, and one transaction is committed once.
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

SETTINGS: dict[str, int | str] = {
    "busy_timeout": int(BUSY_TIMEOUT_S * 1000),
    "cache_size": -16_000,  # KiB; rows go to the end of a tree, which needs no more
    "foreign_keys": 0,  # all at once afterwards, when there are keys to find rows by
    "journal_mode": "delete",  # a write-ahead log would be written twice; it is set back
    "synchronous": 2,
}
"""Pragmas of the loading connection, with the values that they read back as."""

_PAGE = 4096
"""Of the files that Dyno makes. It only matters to a log, and a load has none."""


def settings(changes: Sequence[Change]) -> dict[str, int | str]:
    """Those pragmas, with what the run asks for."""
    asked = {item.name: item.value(_PAGE) for item in changes if item.name != FOLDER}
    return {**SETTINGS, **asked}


def load(
    file: Path, plan: LoadPlan, control: _core.Control, changes: Sequence[Change] = ()
) -> LoadOutcome:
    """Loads table after table; ``plan.streams`` threads generate rows during the inserts.

    The loader reads each of its settings back, and refuses to go on with another value.

    Raises:
        _core.EngineError: What the loader met; nothing of the load is there then.
    """
    wire: dict[str, Any] = {
        "kind": "sqlite",
        "path": str(file),
        "decimals": "unscaled" if exact(plan.workload) else "real",
        "settings": settings(changes),
    }
    return compiled.load(wire, plan, control)
