"""The spill location of DuckDB: next to the file, or on a layout's volume."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from dyno import workloads
from dyno.contracts.layout import Layout
from dyno.targets.duckdb import ddl
from dyno.targets.duckdb.connection import DuckdbConnection
from dyno.workspace import places


def place(session: DuckdbConnection, file: Path, volume: str | None, *, private: bool) -> None:
    """Makes all sessions spill to a volume; None: next to the file.

    Raises:
        TargetError: If the volume cannot be used, or this process has already spilled elsewhere.
    """
    current, wanted = _current(session), _folder(file, volume, private=private)
    if current != wanted:
        session.execute(f"SET GLOBAL temp_directory = {ddl.literal(str(wanted))}")
        if places.is_ours(current.parent, _home(file, private=private)):
            places.release(_home(file, private=private), [current.parent])


def restore(session: DuckdbConnection, file: Path, *, private: bool) -> None:
    """After opening, uses the volume of the loaded layout again.

    With several workloads in one file, the first one with a volume counts. If the file is
    ``private``,
    the remains of a killed Dyno there are removed.
    """
    for name in workloads.names():
        found = ddl.loaded(session, name)
        if found is None or not found.layout:
            continue
        volume = Layout(**json.loads(found.layout)).temp
        if volume is not None:
            folder = _folder(file, volume, private=private)
            if private:
                shutil.rmtree(folder, ignore_errors=True)
            session.execute(f"SET GLOBAL temp_directory = {ddl.literal(str(folder))}")
            return


def paths(session: DuckdbConnection, file: Path) -> list[Path]:
    """The file, and its spill folder if that is elsewhere."""
    current = _current(session)
    return [file] if current.name.startswith(file.name) else [file, current]


def _folder(file: Path, volume: str | None, *, private: bool) -> Path:
    if volume is None:
        return Path(f"{file}.tmp")
    return places.claim(Path(volume), _home(file, private=private)) / "spill"


def _home(file: Path, *, private: bool) -> Path:
    """The owner of places on volumes: the private engine's folder, or the user's file."""
    return file.parent if private else file


def _current(session: DuckdbConnection) -> Path:
    return Path(str(session.execute("SELECT current_setting('temp_directory')").rows[0][0]))
