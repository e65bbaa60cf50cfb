"""Folders that an embedded engine has outside ``--out``: claimed, remembered and removed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from dyno.errors import TargetError

_REGISTER = "places.json"
_MARKER = ".dyno"


def claim(volume: Path, home: Path, owner: tuple[int, int] | None = None) -> Path:
    """A folder of this engine's own on a volume; made if it is missing.

    It is written down in the engine's folder first, so that a killed Dyno leaves nothing that
    ``dyno clean`` does not know.

    Args:
        volume: An existing folder.
        home: The engine's folder under ``--out``; or a database file of the user's, beside which
            nothing is written down.
        owner: User and group that must be able to enter; None for Dyno's own.

    Raises:
        TargetError: If it cannot be made, or somebody else's stands in its place.
    """
    place = volume / f"dyno-{hashlib.sha256(str(home).encode()).hexdigest()[:12]}"
    try:
        _register(home, {*claimed(home), place})
        if not place.exists():
            place.mkdir(mode=0o700)
            (place / _MARKER).write_text(f"{home}\n", encoding="utf-8")
        if not is_ours(place, home):
            raise TargetError(f"{place} is not Dyno's; move it, or name another volume.", kind="io")
        if owner is not None and owner[0] != os.geteuid():
            place.chmod(0o711)
    except OSError as error:
        raise TargetError(
            f"Cannot make {place}: {error.strerror}. Name another volume.", kind="io"
        ) from error
    return place


def claimed(home: Path) -> list[Path]:
    """Folders that were claimed for an engine."""
    try:
        listed = json.loads((home / _REGISTER).read_text(encoding="utf-8"))
        return [Path(item) for item in listed if isinstance(item, str)]
    except (OSError, ValueError, TypeError):
        return []  # none, or the register is not readable: what it named is left alone


def own(home: Path) -> list[Path]:
    """Those of the claimed folders that are there and bear the engine's mark."""
    return [place for place in claimed(home) if is_ours(place, home)]


def release(home: Path, places: Iterable[Path] | None = None) -> list[Path]:
    """Removes claimed folders (all if ``places`` is None), and forgets them.

    Only folders that bear the engine's own mark are touched.

    Returns:
        What was removed.
    """
    gone = claimed(home) if places is None else list(places)
    removed: list[Path] = []
    for place in gone:
        if is_ours(place, home):
            try:
                shutil.rmtree(place)
            except OSError as error:
                message = f"Cannot remove {place}: {error.strerror}."
                raise TargetError(message, kind="io") from error
            removed.append(place)
    _register(home, set(claimed(home)) - set(gone))
    return removed


def is_ours(place: Path, home: Path) -> bool:
    """Whether a folder bears the mark of the engine at ``home``."""
    try:
        return (place / _MARKER).read_text(encoding="utf-8") == f"{home}\n"
    except (OSError, UnicodeError):
        return False


def _register(home: Path, places: set[Path]) -> None:
    if not home.is_dir():
        return
    partial = home / f"{_REGISTER}.partial"
    partial.write_text(json.dumps(sorted(map(str, places))), encoding="utf-8")
    partial.replace(home / _REGISTER)
