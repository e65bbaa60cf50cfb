"""The log on flash: commands for the administrator, since the server must be stopped for it.

Dyno does not do it itself. Whether a server is stopped cannot be seen from here with certainty: it
may run in another container, or be started again meanwhile.
"""

from __future__ import annotations

import posixpath
from pathlib import Path
from shlex import quote

from dyno.contracts.flash import Move, Wanted
from dyno.errors import DynoError, TargetError
from dyno.safety.text import plain
from dyno.servers import onflash
from dyno.targets.postgresql import whereabouts
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.flash import spaces
from dyno.targets.postgresql.flash.at import At

NAME = "dyno_flash_log"
_SAFE = (
    "Without its log a database is lost: the flash device must be as safe as that of the data.",
)
_UNCUT = (
    "test -e pg_wal || test -L pg_wal || mv -T pg_wal.before-dyno pg_wal",
    "test ! -e pg_wal.before-dyno",
)
"""Undoes an attempt that was cut off between its last two renames."""
_ELSEWHERE = (
    "The server is not seen on this machine, and does not show where its log lies. There: {}"
)


def planned(at: At, session: PostgresConnection, wanted: Wanted) -> Move:
    """Where the log lies, and the commands (see :mod:`dyno.contracts.flash`)."""
    told = whereabouts.told(session)
    if not told.data:
        raise TargetError(f"{at.server}: {'; '.join(told.notes)}", kind="denied")
    if plain(told.data) != told.data:
        raise TargetError(f"{at.server}: its data folder has control characters in its name.")
    here = whereabouts.find(session)
    owner = onflash.owner_of(here.pid)
    log = next(iter(here.storage.get("log", ())), None)
    link = posixpath.join(told.data, "pg_wal")
    notes = _SAFE if not wanted.back else ()
    if log is None:
        notes = (_ELSEWHERE.format(f"readlink -f {quote(link)}"), *notes)
    control = posixpath.join(_programs(session), "pg_controldata")
    start = _commands(told.data, control, wanted, owner, log)
    there = None if log is None else _is_there(log, wanted)
    done = there is (not wanted.back)
    now = f"the log in {'an unknown folder' if log is None else log}"
    return Move(NAME, now, there, (), () if done else start, None, notes)


def _is_there(log: Path, wanted: Wanted) -> bool:
    """Whether the log is in the folder; without one, in any that these commands made."""
    if wanted.folder:
        return log == Path(onflash.within(wanted.folder, NAME)) / "pg_wal"
    return log.parent.name == NAME


def _programs(session: PostgresConnection) -> str:
    """The folder of the server's programs; empty without the right to read it."""
    try:
        found = session.execute("SELECT setting FROM pg_config WHERE name = 'BINDIR'").rows
    except DynoError:
        return ""
    return str(found[0][0]) if found else ""


def _commands(
    data: str, control: str, wanted: Wanted, owner: onflash.Owner | None, log: Path | None
) -> tuple[str, ...]:
    user = quote(spaces.USER if owner is None else owner.name)
    unit = quote((owner and owner.unit) or "postgresql")
    old = posixpath.join(data, "pg_wal.before-dyno")
    if wanted.back:
        first: list[str] = []
        body, moved = _back(), "back in the data folder"
        gone = [f"sudo rm {quote(old)}"]
        gone += [f"sudo rm -r {quote(str(log))}"] if log is not None else []
    else:
        path = onflash.within(wanted.folder, NAME)
        if owner is not None and log is not None and not _is_there(log, wanted):
            onflash.require_folder(path, owner, data)
        first = ["# Make the folder.", onflash.install(path, owner, spaces.USER)]
        body, moved = _onto(quote(posixpath.join(path, "pg_wal"))), "on flash"
        gone = [f"sudo rm -r {quote(old)}"]
    return (
        *first,
        "# Stop the server as it was started, for example:",
        f"sudo systemctl stop {unit}",
        "# Copy the log. This ends at the first command that fails, and can be run again.",
        f"sudo -u {user} sh -eux <<'END'",
        f"cd {quote(data)}",
        "test ! -e postmaster.pid",
        f"LC_ALL=C {quote(control)} -D . | grep -Eq 'cluster state: +shut down( in recovery)?$'",
        *body,
        "END",
        "# Start the server, for example:",
        f"sudo systemctl start {unit}",
        f"# --check shows whether its log is {moved}; only then:",
        *gone,
    )


def _onto(log: str) -> list[str]:
    return [
        *_UNCUT,
        f"test ! pg_wal -ef {log}",
        f"rm -rf {log} pg_wal.new",
        f"cp -a pg_wal/. {log}",
        f"diff -r pg_wal/ {log}",
        "sync",
        f"ln -s {log} pg_wal.new",
        "mv -T pg_wal pg_wal.before-dyno",
        "mv -T pg_wal.new pg_wal",
        "sync",
    ]


def _back() -> list[str]:
    return [
        *_UNCUT,
        "test -L pg_wal",
        "rm -rf pg_wal.new",
        "cp -a pg_wal/. pg_wal.new",
        "diff -r pg_wal/ pg_wal.new",
        "sync",
        "mv -T pg_wal pg_wal.before-dyno",
        "mv -T pg_wal.new pg_wal",
        "sync",
    ]
