"""The data folder of the private server and its configuration file."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from dyno.errors import TargetError
from dyno.servers import datafolder
from dyno.servers.identity import Identity
from dyno.servers.processes import working_in
from dyno.targets.postgresql.binaries import Binaries
from dyno.targets.postgresql.product import POSTGRESQL, PROGRAM

SUPERUSER = "dyno"


def prepare(home: Path, binaries: Binaries, lock: int) -> tuple[Path, Identity]:
    """Prepares ``home/data`` for the server.

    Returns and raises as :func:`dyno.servers.datafolder.prepare` does.
    """
    data, identity = datafolder.prepare(home, _Maker(binaries), lock)
    if not working_in(data, PROGRAM):
        # From a killed server; its process id may be in use again.
        (data / "postmaster.pid").unlink(missing_ok=True)
    return data, identity


def write_conf(data: Path, text: str, identity: Identity) -> None:
    """Replaces the server's configuration file.

    The folder belongs to another user if Dyno is root, so a link planted there is not followed.
    """
    file = data / "postgresql.conf"
    file.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(file, flags, 0o600), "w", encoding="utf-8") as opened:
        opened.write(text)
        if identity.owner[0] != os.geteuid():
            os.fchown(opened.fileno(), *identity.owner)


def offers_io_uring(identity: Identity, data: Path, binaries: Binaries) -> bool:
    """Whether the server was built with io_uring and the kernel allows it."""
    try:
        disabled = Path("/proc/sys/kernel/io_uring_disabled").read_text(encoding="ascii").strip()
    except OSError:
        return False  # before Linux 6.6 it cannot be detected, and a refusal is fatal to the server
    question = ["-C", "io_method", "-c", "io_method=io_uring", "-D", str(data)]
    return disabled == "0" and identity.run([binaries.program(PROGRAM), *question], data)[0] == 0


class _Maker(datafolder.Maker):
    """See the base class. A folder is bound to one major version."""

    product = POSTGRESQL

    def __init__(self, binaries: Binaries) -> None:
        self._binaries = binaries
        self.server = binaries.program(PROGRAM)

    def command(self, folder: Path) -> list[str]:
        options = ["--encoding=UTF8", "--locale=C", "--auth=trust", f"--username={SUPERUSER}"]
        return [self._binaries.program("initdb"), f"--pgdata={folder}", *options]

    def cause(self, lines: Sequence[str]) -> str | None:
        found = (re.search(r"\b(?:FATAL|error): +(.*)", line) for line in lines)
        reasons = [match[1] for match in found if match]
        return (reasons or [*lines] or [None])[-1]

    def require_own(self, folder: Path) -> None:
        try:
            version = (folder / "PG_VERSION").read_text(encoding="ascii").strip()
        except OSError as error:
            raise TargetError(f"{folder} is not a PostgreSQL data folder; remove it.") from error
        if version != str(self._binaries.major):
            raise TargetError(
                f"{folder} was created by PostgreSQL {version}, this is "
                f"{self._binaries.version}; remove it with `dyno clean`, or use another --out "
                "DIR."
            )
