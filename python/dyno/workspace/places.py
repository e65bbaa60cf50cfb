"""Folders of an embedded engine outside ``--out``: created, recorded and removed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from dyno.errors import TargetError, UsageError
from dyno.safety.removal import remove_tree
from dyno.safety.safefiles import append, directory, is_own, own_text, replacing

_REGISTER = "places.json"
MARKER = ".dyno"
"""A file in each such folder that identifies its engine."""

_LONGEST_MARK = 8192
_LONGEST_REGISTER = 1 << 20


def claim(volume: Path, home: Path, owner: tuple[int, int] | None = None) -> Path:
    """Returns the engine's folder on a volume; creates it if missing.

    Records it in the engine's folder first, so that ``dyno clean`` finds it even after a kill.

    Args:
        volume: An existing folder.
        home: The engine's folder under ``--out``, or a user's database file, for which nothing is
            recorded.
        owner: User and group that need access; None for Dyno's own.

    Raises:
        TargetError: If it cannot be created, or its name is taken by a foreign folder.
    """
    place = volume / name_of(home)
    try:
        _register(home, {*claimed(home), place})
        try:
            place.mkdir(mode=0o700)
        except FileExistsError:
            pass
        else:
            mark(place, home)
        if not is_ours(place, home):
            raise TargetError(
                f"{place} was not created by Dyno; move it, or use another volume.", kind="io"
            )
        if owner is not None and owner[0] != os.geteuid():
            with directory(place) as fd:
                os.fchmod(fd, 0o711)
    except OSError as error:
        raise TargetError(
            f"Cannot create {place}: {error.strerror}. Use another volume.", kind="io"
        ) from error
    return place


def name_of(home: Path) -> str:
    """The name of an engine's folder on any volume."""
    return f"dyno-{hashlib.sha256(str(home).encode()).hexdigest()[:12]}"


def mark(place: Path, home: Path) -> None:
    """Marks a new folder for the engine at ``home``.

    Raises:
        OSError: If the mark cannot be written or exists.
    """
    with append(place / MARKER, new=True) as file:
        file.write(f"{home}\n".encode())


def claimed(home: Path) -> list[Path]:
    """Recorded folders of an engine."""
    try:
        listed = json.loads(own_text(home / _REGISTER, _LONGEST_REGISTER) or "[]")
        return [Path(item) for item in listed if isinstance(item, str)]
    except (ValueError, TypeError, RecursionError):
        return []  # unreadable record: leave its folders alone


def own(home: Path) -> list[Path]:
    """The recorded folders that exist and have the engine's mark."""
    return [place for place in claimed(home) if is_ours(place, home)]


def release(home: Path, places: Iterable[Path] | None = None) -> list[Path]:
    """Removes recorded folders (all if ``places`` is None) and their records.

    Touches only folders with the engine's mark.

    Returns:
        The removed folders.

    Raises:
        TargetError: If one cannot be removed.
    """
    gone = claimed(home) if places is None else list(places)
    removed: list[Path] = []
    for place in gone:
        if is_ours(place, home):
            try:
                remove_tree(place, lambda fd: _is_marked(fd, home))
            except OSError as error:
                message = f"Cannot remove {place}: {error.strerror}."
                raise TargetError(message, kind="io") from error
            removed.append(place)
    _register(home, set(claimed(home)) - set(gone))
    return removed


def is_ours(place: Path, home: Path) -> bool:
    """Whether a folder is this user's, no link, and has name and mark of the engine at ``home``."""
    if place.name != name_of(home):
        return False
    try:
        with directory(place) as fd:
            return _is_marked(fd, home)
    except (OSError, UsageError):
        return False


def _is_marked(fd: int, home: Path) -> bool:
    return is_own(fd) and own_text(MARKER, _LONGEST_MARK, at=fd) == f"{home}\n"


def _register(home: Path, places: set[Path]) -> None:
    if home.is_dir():
        with replacing(home / _REGISTER) as file:
            file.write(json.dumps(sorted(map(str, places))).encode())
