"""The folders of embedded engines under ``--out``: those that Dyno makes are marked as its own.

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

_FOLDER = "engines"
_ABOUT = "Dyno made the folder beside this file; `dyno clean` removes both."
_LONGEST_MARK = 1 << 16


def make_out(out: Path) -> None:
    """Makes the folder for bundles and engines.

    Raises:
        UsageError: If it cannot be made.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"Cannot create {out}: {error.strerror}. Use another --out DIR."
        ) from error


def home_of(out: Path, name: str) -> Path:
    """The folder of the engine ``name``."""
    return out / _FOLDER / name


def claim(out: Path, name: str) -> None:
    """Makes the folder of the engine ``name`` and marks it; one that has content stays unmarked.

    Raises:
        UsageError: If ``out`` cannot be made; if a link or another user's folder is in the place.
        TargetError: If the engine's folder cannot be made.
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
    """What lies among the engines: the folders that Dyno made, and what it did not make.

    A folder of engines that is a link or another user's is not looked into: it is what Dyno did
    not make.
    """
    folder = out / _FOLDER
    if not is_own_folder(folder):
        return [], [folder] if folder.is_symlink() or folder.exists() else []
    entries = sorted(folder.iterdir())
    ours = [entry for entry in entries if is_ours(entry)]
    marks = {_mark(entry) for entry in entries} | {half for home in ours for half in _halves(home)}
    return ours, [item for item in entries if item not in ours and item not in marks]


def remember(out: Path, name: str, workload: str, content: Sequence[float]) -> None:
    """Notes in the mark of an engine that quickstart loads ``workload``: its scale and seed.

    Raises:
        TargetError: If it cannot be written.
    """
    home = out / _FOLDER / name
    if is_ours(home):
        try:
            _write(home, {**remembered(out, name), workload: list(content)})
        except OSError as error:
            message = f"Cannot write {_mark(home)}: {error.strerror}."
            raise TargetError(message, kind="io") from error


def remembered(out: Path, name: str) -> dict[str, list[float]]:
    """Scale and seed of what quickstart last loaded into an engine, by workload."""
    try:
        noted = _noted(out / _FOLDER / name) or {}
        return {str(key): list(value) for key, value in noted.items()}
    except TypeError:
        return {}  # not readable: then nothing counts as quickstart's


def remove(home: Path) -> None:
    """Removes an engine's folder with its mark, and the folder of all engines if that was the last.

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
    """Whether this user's Dyno made a folder: both it and its mark are the user's, and no links."""
    return is_own_folder(home.parent) and is_own_folder(home) and _noted(home) is not None


def _noted(home: Path) -> dict[str, Any] | None:
    """What a mark says of quickstart's loads; None without a mark of this user's Dyno."""
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
    """Marks that a kill left half written."""
    mark = _mark(home).name
    return [item for item in home.parent.iterdir() if is_partial(item.name, mark)]


def _mark(home: Path) -> Path:
    return home.parent / f".dyno-{home.name}"
