"""Moving the log of a server onto flash, and back, by the server's own means.

Each target that has a log in files of its own has a module ``logs``: ``log_of``, ``move`` and
``take_back`` of a data folder.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import shutil
from pathlib import Path
from typing import Any

from dyno import targets
from dyno.accelerate.attach import attached
from dyno.errors import DiskFullError, UsageError
from dyno.safety.unwritable import why
from dyno.workspace import places

_LOG = "log"
_SPARE = 1.1


def move(folder: Path, flash: Path) -> Path:
    """Moves the log of the server in a data folder to flash; returns where it is.

    Raises:
        UsageError: If the folder has no log that Dyno can move, or it is elsewhere already.
        TargetError: If the server runs.
        DiskFullError: If there is no space; the log stays in its place then.
    """
    product, log = _product(folder)
    attached.refuse_users(folder)
    if folder not in (log.parent, log):
        raise UsageError(f"The log of {folder} is in {log} already.")
    if not flash.is_dir():
        raise UsageError(f"No such folder: {flash}. Mount the flash, or use another --flash.")
    size = sum(path.lstat().st_size for path in log.rglob("*")) if log != folder else 0
    if _SPARE * size > shutil.disk_usage(flash).free:
        raise DiskFullError(f"{flash} has no space for the log of {folder}.")
    place = flash / places.name_of(folder)
    try:
        if not place.exists():
            place.mkdir()
            places.mark(place, folder)
        if not places.is_ours(place, folder):
            raise UsageError(f"{place} was not created by Dyno; move it, or use another --flash.")
        place.chmod(0o711)
        product.move(folder, place / _LOG)
    except OSError as error:
        _remove(place)
        raise DiskFullError(
            f"Cannot move the log to {place}: {why(error, place)}", kind="io"
        ) from error
    except UsageError:
        _remove(place)
        raise
    return place / _LOG


def take_back(folder: Path) -> Path:
    """Moves the log back into the data folder; returns where it was.

    Raises:
        UsageError: If Dyno did not move it.
        TargetError: If the server runs.
        DiskFullError: If there is no space; the log stays in its place then.
    """
    product, log = _product(folder)
    attached.refuse_users(folder)
    place = log.parent
    if log.name != _LOG or not places.is_ours(place, folder):
        raise UsageError(f"The log of {folder} is not one that Dyno moved: it is in {log}.")
    try:
        product.take_back(folder)
    except OSError as error:
        raise DiskFullError(f"Cannot move the log back: {why(error, folder)}", kind="io") from error
    _remove(place)
    return log


def _product(folder: Path) -> tuple[Any, Path]:
    """The target's module for a data folder, and where its log is.

    Raises:
        UsageError: If it is no server's data folder, or another user's.
    """
    if not folder.is_dir():
        raise UsageError(f"No such folder: {folder}.")
    if os.geteuid() not in (0, folder.stat().st_uid):
        raise UsageError(f"{folder} belongs to another user. Run Dyno as that user or as root.")
    for target in pkgutil.iter_modules(targets.__path__, f"{targets.__name__}."):
        name = f"{target.name}.logs"
        if target.ispkg and importlib.util.find_spec(name) is not None:
            product = importlib.import_module(name)
            if (log := product.log_of(folder)) is not None:
                return product, log
    raise UsageError(f"{folder} is no data folder of a server whose log Dyno knows.")


def _remove(place: Path) -> None:
    """Removes the folder on flash, if nothing but its mark is there."""
    if [item.name for item in place.iterdir()] == [places.MARKER]:
        (place / places.MARKER).unlink()
        place.rmdir()
