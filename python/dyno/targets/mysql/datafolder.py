"""The data folder of the private server: made whole or not at all, and owned by its server."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from dyno.errors import DiskFullError, TargetError
from dyno.targets.mysql.binaries import Binaries
from dyno.targets.mysql.version import Version
from dyno.targets.postgresql.identity import Identity, choose

PRODUCT = "MariaDB"


def prepare(home: Path, binaries: Binaries, lock: int) -> tuple[Path, Identity]:
    """Makes ``home/data`` ready to be served, and ``home/tmp`` for temporary tables.

    A data folder that exists is kept with what is loaded in it. ``lock`` is the descriptor of the
    engine's lock; the caller holds it.

    Returns:
        The data folder and whom its server must run as.

    Raises:
        TargetError: If it belongs to another user or series, or cannot be made.
    """
    data, partial = home / "data", home / "data.partial"
    shutil.rmtree(partial, ignore_errors=True)  # of a start that was killed
    owner = data.stat().st_uid if data.exists() else None
    uid = os.geteuid()
    if owner is not None and uid not in (0, owner):
        raise TargetError(
            f"{data} belongs to user id {owner}; run dyno as that user or give another --out DIR.",
            kind="denied",
        )
    identity = choose(uid, owner, home, binaries.server, PRODUCT)
    if owner is None:
        _make(partial, identity, binaries, lock)
        partial.rename(data)
    else:
        _require_series(data, binaries)
        if owner != identity.owner[0]:
            for place, folders, files in os.walk(data):
                for path in (place, *(os.path.join(place, name) for name in (*folders, *files))):  # noqa: PTH118
                    os.chown(path, *identity.owner, follow_symlinks=False)
    temporary = home / "tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(mode=0o700)
    _give(temporary, identity)
    return data, identity


def tells_full_disk(text: str) -> bool:
    """Whether a message of the server's programs means that a volume is full."""
    return any(words in text for words in ("No space left", "Errcode: 28", "error 28", "disk full"))


def _make(partial: Path, identity: Identity, binaries: Binaries, lock: int) -> None:
    partial.mkdir(mode=0o700)
    _give(partial, identity)
    command = [
        binaries.install,
        "--no-defaults",
        f"--datadir={partial}",
        # The socket's folder is closed to everybody else: it is the key.
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
        "--skip-name-resolve",
    ]
    code, printed = identity.run(command, partial, keep=[lock])
    if code == 0:
        return
    shutil.rmtree(partial, ignore_errors=True)
    message = f"MariaDB's data folder could not be made: {_cause(printed, code)}"
    if tells_full_disk(printed):
        raise DiskFullError(f"{message}. Free some space or give another --out DIR.")
    raise TargetError(message)


def _cause(printed: str, code: int) -> str:
    """The line of the output that says why."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    told = [line for line in lines if "ERROR" in line]
    return (told or lines or [f"{PRODUCT} ended with {code}"])[0]


def _give(folder: Path, identity: Identity) -> None:
    if identity.owner[0] != os.geteuid():
        os.chown(folder, *identity.owner)


def _require_series(data: Path, binaries: Binaries) -> None:
    info = next((data / name for name in _INFO if (data / name).exists()), None)
    if info is None:
        raise TargetError(f"{data} is no MariaDB data folder; remove it.")
    made = Version.parse(info.read_text(encoding="ascii", errors="replace").strip())
    if ".".join(map(str, made.number[:2])) != binaries.series:
        raise TargetError(
            f"{data} was made by {made}, this is {binaries.version}; "
            "remove it with `dyno clean` or give another --out DIR."
        )


_INFO = ("mariadb_upgrade_info", "mysql_upgrade_info")
