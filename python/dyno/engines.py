"""The folders of embedded engines under ``--out``: those that Dyno makes are marked as its own.

The mark lies beside the folder, since some engines refuse a folder with files of others in it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from dyno.errors import TargetError, UsageError

_FOLDER = "engines"
_ABOUT = "Dyno made the folder beside this file; `dyno clean` removes both."


def make_out(out: Path) -> None:
    """Makes the folder for bundles and engines.

    Raises:
        UsageError: If it cannot be made.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"Cannot make {out}: {error.strerror}. Give another --out DIR.") from error


def home_of(out: Path, name: str) -> Path:
    """The folder of the engine ``name``."""
    return out / _FOLDER / name


def claim(out: Path, name: str) -> None:
    """Makes the folder of the engine ``name`` and marks it; one that has content stays unmarked.

    Raises:
        UsageError: If ``out`` cannot be made.
        TargetError: If the engine's folder cannot be.
    """
    make_out(out)
    home = home_of(out, name)
    try:
        home.mkdir(parents=True, exist_ok=True)
        if not is_ours(home) and not any(home.iterdir()):
            _write(home, {})
    except OSError as error:
        message = f"Cannot make {home}: {error.strerror}. Give another --out DIR."
        raise TargetError(message, kind="io") from error


def homes(out: Path) -> tuple[list[Path], list[Path]]:
    """What lies among the engines: the folders that Dyno made, and what it did not make."""
    folder = out / _FOLDER
    entries = sorted(folder.iterdir()) if folder.is_dir() else []
    marks = {_mark(entry) for entry in entries}
    ours = [entry for entry in entries if is_ours(entry)]
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
        noted = json.loads(_mark(out / _FOLDER / name).read_text(encoding="utf-8"))["quickstart"]
        return {str(key): list(value) for key, value in noted.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}  # none, or not readable: then nothing counts as quickstart's


def remove(home: Path) -> None:
    """Removes an engine's folder with its mark, and the folder of all engines if that was the last.

    Raises:
        TargetError: If it is not Dyno's, or cannot be removed.
    """
    if not is_ours(home):
        raise TargetError(f"{home} is not Dyno's.", kind="io")
    try:
        shutil.rmtree(home)
        _mark(home).unlink(missing_ok=True)
        if not home.parent.is_symlink() and not any(home.parent.iterdir()):
            home.parent.rmdir()
    except OSError as error:
        message = f"Cannot remove {error.filename or home}: {error.strerror}."
        raise TargetError(message, kind="io") from error


def is_ours(home: Path) -> bool:
    """Whether Dyno made a folder: it is marked."""
    mark = _mark(home)
    try:
        return home.is_dir() and not home.is_symlink() and mark.is_file() and not mark.is_symlink()
    except PermissionError:
        return False  # what this user cannot look into, this user did not make


def _write(home: Path, quickstart: dict[str, list[float]]) -> None:
    partial = _mark(home).with_suffix(".partial")
    partial.write_text(json.dumps({"about": _ABOUT, "quickstart": quickstart}), encoding="utf-8")
    partial.replace(_mark(home))


def _mark(home: Path) -> Path:
    return home.parent / f".dyno-{home.name}"
