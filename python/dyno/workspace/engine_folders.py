"""Folders of embedded engines under ``--out``; Dyno marks those that it creates.

The mark is next to the folder, since some engines refuse folders with foreign files.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dyno.errors import TargetError, UsageError
from dyno.safety.removal import remove_tree
from dyno.safety.safefiles import is_own_folder, is_partial, make_folder, own_text, replacing

FOLDER = "engines"
_ABOUT = "Dyno made the folder beside this file; `dyno clean` removes both."
_LONGEST_MARK = 1 << 16


def make_out(out: Path) -> None:
    """Creates the folder for bundles and engines.

    Raises:
        UsageError: If it cannot be created.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"Cannot create {out}: {error.strerror}. Use another --out DIR."
        ) from error


def home_of(out: Path, name: str) -> Path:
    """The folder of the engine ``name``."""
    return out / FOLDER / name


def claim(out: Path, name: str) -> None:
    """Creates and marks the folder of the engine ``name``; one with content stays unmarked.

    Raises:
        UsageError: If ``out`` cannot be created, or its name is a link or another user's folder.
        TargetError: If the engine's folder cannot be created.
    """
    make_out(out)
    home = home_of(out, name)
    try:
        make_folder(home.parent)
        make_folder(home)
        if not is_ours(home) and not any(home.iterdir()):
            _write(home, {})
    except OSError as error:
        message = f"Cannot create {home}: {error.strerror}. Use another --out DIR."
        raise TargetError(message, kind="io") from error


def homes(out: Path) -> tuple[list[Path], list[Path]]:
    """Content of the engines' folder: folders that Dyno created, and everything else.

    Does not look into a folder of engines that is a link or another user's: it counts as not
    created by Dyno.
    """
    folder = out / FOLDER
    if not is_own_folder(folder):
        return [], [folder] if folder.is_symlink() or folder.exists() else []
    entries = sorted(folder.iterdir())
    ours = [entry for entry in entries if is_ours(entry)]
    marks = {_mark(entry) for entry in entries} | {half for home in ours for half in _halves(home)}
    return ours, [item for item in entries if item not in ours and item not in marks]


def remember(out: Path, name: str, workload: str, content: Sequence[float]) -> None:
    """Records in an engine's mark the scale and seed with which quickstart loads ``workload``.

    Raises:
        TargetError: If it cannot be written.
    """
    home = out / FOLDER / name
    if is_ours(home):
        try:
            _write(home, {**remembered(out, name), workload: list(content)})
        except OSError as error:
            message = f"Cannot write {_mark(home)}: {error.strerror}."
            raise TargetError(message, kind="io") from error


def remembered(out: Path, name: str) -> dict[str, list[float]]:
    """Scale and seed of quickstart's last load into an engine, by workload."""
    try:
        noted = _noted(out / FOLDER / name) or {}
        return {str(key): list(value) for key, value in noted.items()}
    except TypeError:
        return {}  # unreadable: nothing counts as loaded by quickstart


def remove(home: Path) -> None:
    """Removes an engine's folder and mark, and the folder of all engines after the last one.

    Raises:
        TargetError: If it is not Dyno's, or cannot be removed.
    """
    if not is_ours(home):
        raise TargetError(f"{home} was not created by Dyno.", kind="io")
    try:
        remove_tree(home)
        for mark in (_mark(home), *_halves(home)):
            mark.unlink(missing_ok=True)
        if not any(home.parent.iterdir()):
            home.parent.rmdir()
    except OSError as error:
        message = f"Cannot remove {error.filename or home}: {error.strerror}."
        raise TargetError(message, kind="io") from error


def is_ours(home: Path) -> bool:
    """Whether this user's Dyno created a folder: it and its mark are the user's and not links."""
    return is_own_folder(home.parent) and is_own_folder(home) and _noted(home) is not None


def _noted(home: Path) -> dict[str, Any] | None:
    """The quickstart loads in a mark; None without a mark of this user's Dyno."""
    try:
        mark: Any = json.loads(own_text(_mark(home), _LONGEST_MARK) or "")
    except (ValueError, RecursionError):
        return None
    if not isinstance(mark, dict) or set(mark) != {"about", "quickstart"}:
        return None
    noted: Any = mark["quickstart"]
    return noted if isinstance(noted, dict) and mark["about"] == _ABOUT else None


def _write(home: Path, quickstart: dict[str, list[float]]) -> None:
    with replacing(_mark(home)) as file:
        file.write(json.dumps({"about": _ABOUT, "quickstart": quickstart}).encode())


def _halves(home: Path) -> list[Path]:
    """Marks left half-written by a kill."""
    mark = _mark(home).name
    return [item for item in home.parent.iterdir() if is_partial(item.name, mark)]


def _mark(home: Path) -> Path:
    return home.parent / f".dyno-{home.name}"
