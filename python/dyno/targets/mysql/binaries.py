"""Finds the programs of the private MariaDB in the system's packages."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass

from dyno.errors import TargetError
from dyno.targets.mysql.version import Version

_PLACES = "/usr/sbin:/usr/local/sbin:/usr/libexec:/usr/local/mysql/bin"
"""Folders with servers that are not in PATH."""


@dataclass(frozen=True)
class Binaries:
    """An installation of MariaDB: paths of the server and of the install program."""

    server: str
    install: str
    version: Version

    @property
    def series(self) -> str:
        """The series, such as ``10.11``, which a data folder is bound to."""
        return ".".join(map(str, self.version.number[:2]))


def find() -> Binaries:
    """The system's MariaDB.

    Raises:
        TargetError: If there is none, or it is too old.
    """
    server, install = _which("mariadbd", "mysqld"), _which("mariadb-install-db", "mysql_install_db")
    version = None if server is None else _version(server)
    if server is None or install is None or version is None or not version.is_mariadb:
        raise TargetError(
            "The private MariaDB needs the system's MariaDB server, which is not installed "
            "(Debian and Ubuntu: apt install mariadb-server; the service need not run)."
        )
    version.require("The system's MariaDB")
    return Binaries(server, install, version)


def _which(*names: str) -> str | None:
    for name in names:
        found = shutil.which(name) or shutil.which(name, path=_PLACES)
        if found:
            return found
    return None


def _version(server: str) -> Version | None:
    try:
        done = subprocess.run(
            [server, "--no-defaults", "--version"],
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"\bVer (\S+)", done.stdout)
    return Version.parse(found[1]) if found else None
