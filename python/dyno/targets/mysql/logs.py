"""The log of a server that the user runs: its configuration says where it is."""

from __future__ import annotations

from pathlib import Path

from dyno.errors import UsageError

_HOW = (
    "MariaDB and MySQL find their log by a setting. Stop the server, move {folder}/ib_logfile0 to "
    "{to}, and put innodb_log_group_home_dir={to} into its configuration."
)


def log_of(folder: Path) -> Path | None:
    """The data folder if it is one of MariaDB or MySQL; None if not."""
    return folder if (folder / "ibdata1").is_file() else None


def move(folder: Path, to: Path) -> None:
    """Moves nothing.

    Raises:
        UsageError: With what to do.
    """
    raise UsageError(_HOW.format(folder=folder, to=to))


def take_back(folder: Path) -> None:
    """Moves nothing.

    Raises:
        UsageError: With what to do.
    """
    raise UsageError(_HOW.format(folder="the folder of that setting", to=folder))
