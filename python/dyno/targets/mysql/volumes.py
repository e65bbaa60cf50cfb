"""The private server's files outside its folder: tables, log and temporary files on volumes."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from dyno.bundle.writer import write_atomically
from dyno.errors import TargetError
from dyno.safety.safefiles import sync
from dyno.servers import private
from dyno.servers.identity import Identity
from dyno.servers.private import Volume
from dyno.targets.mysql.binaries import Binaries
from dyno.workspace import places

_STATE = "volumes.json"
_LOGS = "ib_logfile*"

Home = private.Home[Binaries]


def folder_on(home: Home, volume: str, name: str) -> Path:
    """A folder of the server on a volume, created if missing.

    Raises:
        TargetError: If the server's user cannot reach it.
    """
    owner = home.identity.owner
    folder = places.claim(Path(volume), home.path, owner) / name
    folder.mkdir(mode=0o700, exist_ok=True)
    if owner[0] != os.geteuid():
        os.chown(folder, *owner)
    code, _ = home.identity.run([home.programs.server, "--no-defaults", "--version"], folder)
    if code != 0:
        raise TargetError(
            f"The private MariaDB runs {home.identity} and cannot reach {volume}. Make its "
            "parent folders accessible (chmod o+x), or use another volume.",
            kind="denied",
        )
    return folder


def temp_volume(home: Path) -> str | None:
    """The volume of temporary files in the layout; None if they are in ``home``."""
    return _state(home).get("temp")


def log_volume(home: Path) -> str | None:
    """The volume of the log in the layout; None if it is with the data."""
    return _state(home).get("log")


def place_temp(home: Path, volume: Volume) -> None:
    """Records the location of temporary files from the next start on."""
    if volume is not False:
        _write(home, {**_state(home), "temp": volume})


def temp_folder(home: Home, asked: str | None) -> Path:
    """An empty folder for temporary files: on the volume ``asked``, or that of the layout."""
    volume = asked or temp_volume(home.path)
    if volume is None:
        return home.path / "tmp"
    folder = folder_on(home, volume, "tmp")
    for entry in folder.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    return folder


def place_log(home: Home, volume: Volume) -> Path:
    """Moves the log to its location while the server is down; returns its folder.

    The copy is complete and durable before it is used; the old log is removed last.

    Raises:
        TargetError: If the volume cannot be used by the server.
        OSError: If copying failed; the log is unchanged.
    """
    data = home.path / "data"
    there = log_volume(home.path)
    old = data if there is None else folder_on(home, there, "log")
    if volume is False or volume == there:
        return old
    new = data if volume is None else folder_on(home, volume, "log")
    for file in sorted(old.glob(_LOGS)):
        _copy(file, new / file.name, home.identity)
    sync(new)
    _write(home.path, {**_state(home.path), "log": volume})
    for file in old.glob(_LOGS):
        file.unlink()
    return new


def data_folders(home: Path) -> list[Path]:
    """Folders on volumes that hold tables, or may hold them."""
    return [place / "data" for place in places.own(home) if (place / "data").is_dir()]


def sweep(home: Path) -> None:
    """Removes unused folders on volumes while the server is down."""
    kept = {volume for volume in (temp_volume(home), log_volume(home)) if volume is not None}
    for place in places.own(home):
        if str(place.parent) not in kept and not any((place / "data").rglob("*.ibd")):
            places.release(home, [place])


def _copy(source: Path, target: Path, identity: Identity) -> None:
    shutil.copyfile(source, target)
    target.chmod(0o600)
    if identity.owner[0] != os.geteuid():
        os.chown(target, *identity.owner)
    sync(target)


def _state(home: Path) -> dict[str, str | None]:
    try:
        found = json.loads((home / _STATE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        # Without it the log could not be found, and a server without its log loses data.
        raise TargetError(f"Cannot read {home / _STATE}; restore it.", kind="io") from error
    return found if isinstance(found, dict) else {}


def _write(home: Path, state: dict[str, str | None]) -> None:
    if state != _state(home):
        write_atomically(home / _STATE, json.dumps(state))
