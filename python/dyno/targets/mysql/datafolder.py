"""The data folder of the private server, and its folder for temporary tables."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from dyno.errors import TargetError
from dyno.servers import datafolder
from dyno.servers.identity import Identity
from dyno.targets.mysql.binaries import Binaries
from dyno.targets.mysql.product import MARIADB
from dyno.targets.mysql.version import Version

_INFO = ("mariadb_upgrade_info", "mysql_upgrade_info")


def prepare(home: Path, binaries: Binaries, lock: int) -> tuple[Path, Identity]:
    """Prepares ``home/data`` for the server, and ``home/tmp`` for temporary tables.

    Returns and raises as :func:`dyno.servers.datafolder.prepare` does.
    """
    data, identity = datafolder.prepare(home, _Maker(binaries), lock)
    temporary = home / "tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(mode=0o700)
    datafolder.give(temporary, identity)
    return data, identity


class _Maker(datafolder.Maker):
    """See the base class. A folder is bound to one series, such as 10.11."""

    product = MARIADB

    def __init__(self, binaries: Binaries) -> None:
        self._binaries = binaries
        self.server = binaries.server

    def command(self, folder: Path) -> list[str]:
        return [
            self._binaries.install,
            "--no-defaults",
            f"--datadir={folder}",
            # Only this user can enter the socket's folder, which replaces authentication.
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            "--skip-name-resolve",
        ]

    def cause(self, lines: Sequence[str]) -> str | None:
        errors = [line for line in lines if "ERROR" in line]
        return next(iter(errors or lines), None)

    def require_own(self, folder: Path) -> None:
        info = next((folder / name for name in _INFO if (folder / name).exists()), None)
        if info is None:
            raise TargetError(f"{folder} is not a MariaDB data folder; remove it.")
        made = Version.parse(info.read_text(encoding="ascii", errors="replace").strip())
        if ".".join(map(str, made.number[:2])) != self._binaries.series:
            raise TargetError(
                f"{folder} was created by {made}, this is {self._binaries.version}; remove it "
                "with `dyno clean`, or use another --out DIR."
            )
