"""Temporary files and the log of a MariaDB or MySQL at a URL on flash: commands, and their check.

Both places are fixed at the server's start, and Dyno restarts no server of others.
"""

from __future__ import annotations

import contextlib
import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from shlex import quote

from dyno.contracts.flash import Move, Part, Wanted
from dyno.errors import DynoError, TargetError, UsageError
from dyno.host.files import read_text
from dyno.safety.text import plain
from dyno.servers import onflash
from dyno.targets.mysql import whereabouts
from dyno.targets.mysql.address import Address
from dyno.targets.mysql.connection import MysqlConnection

LACKS: Mapping[Part, str] = {
    "database": "InnoDB creates a table where it stays: DATA DIRECTORY is set when a table is "
    "created. Put a cache in front of the data folder (dyno accelerate apply)",
}
_USER = "mysql"
_SETTING: Mapping[Part, str] = {"temp": "tmpdir", "log": "innodb_log_group_home_dir"}
_WORDS: Mapping[Part, str] = {"temp": "temporary files", "log": "the log"}
_INCLUDE = re.compile(r"^!includedir\s+(\S+)", re.MULTILINE)
_CONFS = ("/etc/my.cnf", "/etc/mysql/my.cnf")
_FOLDER_OF_CONF = "/etc/mysql/conf.d"
_OPTION = re.compile(r"[^\"'#\\;]+")
"""Paths that need no escapes in an option file."""
_REDO = "#innodb_redo"
_UNCUT = (
    'for old in dyno-before-*; do test ! -e "$old" || mv -nT "$old" "${old#dyno-before-}"; done'
)
"""Undoes an attempt that was cut off after it renamed the old log."""
_SAFE = (
    "Without its log a database is lost: the flash device must be as safe as that of the data.",
)
_BACK = (
    "The log goes back to the data folder. If another file sets innodb_log_group_home_dir, copy it "
    "to that folder instead.",
)


def planned(session: MysqlConnection, address: Address, wanted: Wanted) -> Move:
    """Where a part lies, and the commands (see :mod:`dyno.contracts.flash`)."""
    name, setting = f"dyno_flash_{wanted.part}", _SETTING[wanted.part]
    told = whereabouts.told(session, address)
    places = told.places.get(wanted.part, ())
    if any(plain(text) != text for text in (told.data, *places)):
        raise TargetError(f"{address.server} has a folder with control characters in its name.")
    if wanted.folder:
        path = onflash.within(wanted.folder, name)
        there = bool(places) and all(place == path for place in places)
    else:
        path = next((place for place in places if posixpath.basename(place) == name), "")
        there = bool(path)
    here = whereabouts.find(session, address)
    owner = onflash.owner_of(here.pid)
    notes = () if wanted.part != "log" else _BACK if wanted.back else _SAFE
    now = f"{_WORDS[wanted.part]} in {', '.join(places)}"
    if there is not wanted.back:
        return Move(name, now, there)
    origin, file, files = _origin(session, setting)
    if origin == "COMMAND-LINE" and not wanted.back:
        notes = (
            *notes,
            f"{setting} is set on the server's command line, which counts more than its files: "
            "change it there instead.",
        )
    conf = (
        file
        if wanted.back and file
        else posixpath.join(_conf_folder(file, files), f"zz-{name}.cnf")
    )
    if not wanted.back:
        if not _OPTION.fullmatch(path):
            raise UsageError(f"--flash {path}: option files need paths without quotes and #.")
        if owner is not None:
            onflash.require_folder(path, owner, told.data)
    commands = _back if wanted.back else _onto
    lines = commands(session, wanted, owner, path, conf)
    return Move(name, now, there, script=tuple(lines), notes=notes)


def _onto(
    session: MysqlConnection, wanted: Wanted, owner: onflash.Owner | None, path: str, conf: str
) -> list[str]:
    option = f"{_SETTING[wanted.part]} = {path}"
    line = f"printf '%s\\n' '[mysqld]' {quote(option)} | sudo tee {quote(conf)}"
    made = ["# Make the folder.", onflash.install(path, owner, _USER)]
    set_it = ["# Set it for the next start; the last file that the server reads counts.", line]
    unit = _unit(session, owner)
    if wanted.part == "temp":
        return [*made, *set_it, *_restart(unit, "on flash")]
    files, source = _log_files(session), _log_folder(session)
    kept = f'for file in {files}; do mv -T "$file" "dyno-before-$file"; done'
    return [
        *made,
        *_stop(unit),
        *_copying(session, _user(owner), source, [_UNCUT], files, path, [kept, "sync"]),
        *set_it,
        *_start(unit, "on flash"),
        f"sudo rm -r {quote(source)}/dyno-before-*",
    ]


def _back(
    session: MysqlConnection, wanted: Wanted, owner: onflash.Owner | None, path: str, conf: str
) -> list[str]:
    unit, user = _unit(session, owner), _user(owner)
    unset = [f"# Unset {_SETTING[wanted.part]}.", f"sudo rm {quote(conf)}"]
    if posixpath.basename(conf) != f"zz-dyno_flash_{wanted.part}.cnf":
        unset = [f"# Remove the line with {_SETTING[wanted.part]} from {conf}."]
    if wanted.part == "temp":
        return [*unset, *_restart(unit, "not on flash"), f"sudo rm -r {quote(path)}"]
    data = posixpath.normpath(str(session.execute("SELECT @@datadir").rows[0][0]))
    return [
        *_stop(unit),
        *_copying(session, user, path, [], _log_files(session), data, []),
        *unset,
        *_start(unit, "not on flash"),
        f"sudo rm -r {quote(path)}",
    ]


def _copying(
    session: MysqlConnection, user: str, source: str, first: list[str], files: str, target: str,
    last: list[str],
) -> list[str]:  # fmt: skip
    """Copies the log of a stopped server; what a server leaves only while it runs is absent.

    The command that follows is done only if this succeeds.
    """
    data, pid_file, socket = session.execute("SELECT @@datadir, @@pid_file, @@socket").rows[0]
    return [
        f"sudo -u {user} sh -eux <<'END' &&",
        f"cd {quote(source)}",
        f"test ! -e {quote(posixpath.join(str(data), str(pid_file)))}",
        f"test ! -S {quote(posixpath.join(str(data), str(socket)))}",
        *first,
        f"cp -a {files} {quote(target)}",
        f'for file in {files}; do diff -r "$file" {quote(target)}/"$file"; done',
        "sync",
        *last,
        "END",
    ]


def _stop(unit: str) -> list[str]:
    return [
        "# Stop the server as it was started, for example:",
        f"sudo systemctl stop {unit}",
        "# Copy the log. This ends at the first command that fails, and can be run again.",
    ]


def _start(unit: str, where: str) -> list[str]:
    return [
        "# Start the server, for example:",
        f"sudo systemctl start {unit}",
        f"# --check shows whether its log is {where}; only then:",
    ]


def _restart(unit: str, where: str) -> list[str]:
    return [
        "# Restart the server as it was started, for example:",
        f"sudo systemctl restart {unit}",
        f"# --check shows whether its temporary files are {where}.",
    ]


def _log_files(session: MysqlConnection) -> str:
    """The files of the log, for a shell."""
    version = session.version
    whole = not version.is_mariadb and version.number >= (8, 0, 30)
    return quote(_REDO) if whole else "ib_logfile[0-9]*"


def _log_folder(session: MysqlConnection) -> str:
    data, log = session.execute("SELECT @@datadir, @@innodb_log_group_home_dir").rows[0]
    return posixpath.normpath(posixpath.join(str(data), str(log or ".")))


def _user(owner: onflash.Owner | None) -> str:
    return quote(_USER if owner is None else owner.name)


def _unit(session: MysqlConnection, owner: onflash.Owner | None) -> str:
    usual = "mariadb" if session.version.is_mariadb else "mysql"
    return quote((owner and owner.unit) or usual)


def _origin(session: MysqlConnection, setting: str) -> tuple[str, str, set[str]]:
    """Where a setting comes from, and its file, if the server shows it; files that it has read."""
    query = (
        "SELECT VARIABLE_NAME, GLOBAL_VALUE_ORIGIN, GLOBAL_VALUE_PATH "
        "FROM information_schema.SYSTEM_VARIABLES WHERE GLOBAL_VALUE_ORIGIN <> 'COMPILE-TIME'"
        if session.version.is_mariadb
        else "SELECT VARIABLE_NAME, VARIABLE_SOURCE, VARIABLE_PATH "
        "FROM performance_schema.variables_info WHERE VARIABLE_SOURCE <> 'COMPILED'"
    )
    origin, file, files = "", "", set[str]()
    with contextlib.suppress(DynoError):
        for name, source, path in session.execute(query).rows:
            if str(name).lower() == setting:
                origin, file = str(source).replace("_", "-"), str(path or "")
            files |= {str(path)} if path else set()
    return origin, file, files


def _conf_folder(file: str, files: set[str]) -> str:
    """A folder whose files the server reads, after ``file`` if the setting is there."""
    folders = sorted(posixpath.dirname(one) for one in files)
    known = [posixpath.dirname(file), *reversed(folders)]
    for conf in reversed(_CONFS):
        included = _INCLUDE.findall(read_text(Path(conf)) or "")
        known += [folder.rstrip("/") for folder in reversed(included) if Path(folder).is_dir()]
    return next((folder for folder in known if folder.endswith(".d")), _FOLDER_OF_CONF)
