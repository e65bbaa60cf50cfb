"""The data folder of the private server: made whole or not at all, and owned by its server."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from dyno.errors import DiskFullError, TargetError
from dyno.targets.postgresql.binaries import Binaries
from dyno.targets.postgresql.identity import Identity, choose
from dyno.targets.postgresql.processes import working_in
from dyno.targets.postgresql.serverlog import tells_full_disk

SUPERUSER = "dyno"


def prepare(home: Path, binaries: Binaries, lock: int) -> tuple[Path, Identity]:
    """Makes ``home/data`` ready to be served.

    A folder that exists is kept with what is loaded in it. ``lock`` is the descriptor of the
    engine's lock; the caller holds it.

    Returns:
        The data folder and whom its server must run as.

    Raises:
        TargetError: If it belongs to another user or version, or cannot be made.
    """
    data = home / "data"
    partial = home / "data.partial"
    shutil.rmtree(partial, ignore_errors=True)  # of a start that was killed
    owner = data.stat().st_uid if data.exists() else None
    uid = os.geteuid()
    if owner is not None and uid not in (0, owner):
        raise TargetError(
            f"{data} belongs to user id {owner}; run dyno as that user or give another --out DIR.",
            kind="denied",
        )
    identity = choose(uid, owner, home, binaries.program("postgres"))
    if owner is None:
        _make(partial, identity, binaries, lock)
        partial.rename(data)
        return data, identity
    _require_version(data, binaries)
    if owner != identity.owner[0]:
        for path in _tree(data):
            os.chown(path, *identity.owner, follow_symlinks=False)
    if not working_in(data):
        # Of a killed server, whose process id somebody else may have by now.
        (data / "postmaster.pid").unlink(missing_ok=True)
    return data, identity


def write_conf(data: Path, text: str, identity: Identity) -> None:
    """Replaces the server's configuration file.

    The folder belongs to another user if Dyno is root: a link planted there is not followed.
    """
    file = data / "postgresql.conf"
    file.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(file, flags, 0o600), "w", encoding="utf-8") as opened:
        opened.write(text)
        if identity.owner[0] != os.geteuid():
            os.fchown(opened.fileno(), *identity.owner)


def offers_io_uring(identity: Identity, data: Path, binaries: Binaries) -> bool:
    """Whether the server was built with io_uring and the kernel lets it be used."""
    try:
        disabled = Path("/proc/sys/kernel/io_uring_disabled").read_text(encoding="ascii").strip()
    except OSError:
        return False  # before Linux 6.6 nothing tells, and a refusal would be fatal to the server
    question = ["-C", "io_method", "-c", "io_method=io_uring", "-D", str(data)]
    return disabled == "0" and identity.run([binaries.program("postgres"), *question], data)[0] == 0


def _make(partial: Path, identity: Identity, binaries: Binaries, lock: int) -> None:
    partial.mkdir(mode=0o700)
    if identity.owner[0] != os.geteuid():
        os.chown(partial, *identity.owner)
    options = ["--encoding=UTF8", "--locale=C", "--auth=trust", f"--username={SUPERUSER}"]
    command = [binaries.program("initdb"), f"--pgdata={partial}", *options]
    code, printed = identity.run(command, partial, keep=[lock])
    if code == 0:
        return
    shutil.rmtree(partial, ignore_errors=True)
    message = f"PostgreSQL's data folder could not be made: {_cause(printed, code)}"
    if tells_full_disk(printed):
        raise DiskFullError(f"{message}. Free some space or give another --out DIR.")
    raise TargetError(message)


def _cause(printed: str, code: int) -> str:
    """The line of initdb's output that says why."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    told = [match[1] for line in lines if (match := re.search(r"\b(?:FATAL|error): +(.*)", line))]
    return (told or lines or [f"initdb ended with {code}"])[-1]


def _require_version(data: Path, binaries: Binaries) -> None:
    try:
        version = (data / "PG_VERSION").read_text(encoding="ascii").strip()
    except OSError as error:
        raise TargetError(f"{data} is no PostgreSQL data folder; remove it.") from error
    if version != str(binaries.major):
        raise TargetError(
            f"{data} was made by PostgreSQL {version}, this is {binaries.version}; "
            "remove it with `dyno clean` or give another --out DIR."
        )


def _tree(folder: Path) -> Iterator[Path]:
    yield folder
    for place, folders, files in os.walk(folder):
        yield from (Path(place, name) for name in (*folders, *files))
