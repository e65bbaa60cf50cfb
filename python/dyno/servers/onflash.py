"""A folder on flash for files of a server that Dyno did not start."""

from __future__ import annotations

import contextlib
import os
import posixpath
import pwd
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

import psutil

from dyno.errors import TargetError, UsageError
from dyno.host.files import read_text
from dyno.safety.text import plain, require_text
from dyno.safety.unwritable import why


@dataclass(frozen=True)
class Owner:
    """The user of a server's process on this machine.

    Attributes:
        unit: Its systemd service; empty if it has none.
    """

    name: str
    uid: int
    gid: int
    unit: str = ""


def owner_of(pid: int | None) -> Owner | None:
    """The user of a process; None if it is not on this machine, or has ended."""
    try:
        process = psutil.Process(-1 if pid is None else pid)
        uid, gid = process.uids().effective, process.gids().effective
    except (psutil.Error, ValueError):
        return None
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        name = f"#{uid}"
    unit = re.search(r"/system\.slice/(?:\S+/)?([^/\s]+\.service)", _groups(process.pid))
    return Owner(name, uid, gid, unit[1] if unit else "")


def within(folder: str, name: str) -> str:
    """The path of Dyno's folder ``name`` in the user's ``folder``.

    Raises:
        UsageError: If ``folder`` is not an absolute path, or has control characters.
    """
    require_text(folder)
    if not folder.startswith("/") or plain(folder) != folder:
        raise UsageError(f"--flash {plain(folder)}: give an absolute path on the server's machine.")
    return posixpath.join(posixpath.normpath("/" + folder.lstrip("/")), name)


def require_folder(path: str, owner: Owner, data: str) -> None:
    """Refuses a folder on this machine that a server cannot reach, or that is none.

    Args:
        path: Dyno's folder, in the user's.
        owner: The user of the server.
        data: The server's data folder; empty if unknown.

    Raises:
        UsageError: If the user's folder is no real folder, or lies in the data folder.
        TargetError: If the server's user cannot reach it.
    """
    place, folder = Path(path), Path(path).parent
    if not folder.is_dir():
        raise UsageError(f"No such folder: {folder}. Mount the flash, or use another --flash.")
    if folder.resolve() != folder or place.is_symlink():
        raise UsageError(f"{path} leads to another place through a link: give the real folder.")
    if data and place.is_relative_to(Path(data).resolve()):
        raise UsageError(f"{folder} is in the server's data folder; use a folder outside of it.")
    if not _may_enter(owner, folder):
        raise TargetError(
            f"The server's user {owner.name} cannot reach {folder}. Make it and its parent folders "
            "accessible (chmod o+x), or use another --flash.",
            kind="denied",
        )


def require(path: str, owner: Owner, data: str) -> None:
    """Refuses a folder that is not to be used, or not to be made (see :func:`require_folder`).

    Raises:
        UsageError: Also if it has files.
        TargetError: Also if Dyno cannot make it for the server's user.
    """
    require_folder(path, owner, data)
    place, root = Path(path), os.geteuid() == 0
    if not place.exists():
        if not root and (os.geteuid() != owner.uid or not os.access(place.parent, os.W_OK)):
            raise TargetError(
                f"This user cannot make a folder for {owner.name} in {place.parent}. An "
                f"administrator must run: {install(path, owner)}",
                kind="denied",
            )
        return
    with contextlib.suppress(PermissionError):  # then the server finds out
        if not place.is_dir() or any(place.iterdir()):
            raise UsageError(f"{place} has files that Dyno does not know; use another --flash.")
    if not root and place.stat().st_uid != owner.uid:
        raise UsageError(f"{place} does not belong to {owner.name}: {install(path, owner)}")


def make(path: str, owner: Owner) -> None:
    """Makes a folder of the server's user; it may exist.

    Raises:
        TargetError: If it cannot be made.
    """
    place = Path(path)
    try:
        place.mkdir(mode=0o700, exist_ok=True)
        if os.geteuid() == 0 and not any(place.iterdir()):
            os.chown(place, owner.uid, owner.gid, follow_symlinks=False)
    except OSError as error:
        raise TargetError(f"Cannot make {place}: {why(error, place)}", kind="io") from error


def remove(path: str) -> None:
    """Removes the folder if it is empty and this user may."""
    with contextlib.suppress(OSError):
        Path(path).rmdir()


def install(path: str, owner: Owner | None, usual: str = "") -> str:
    """The command that makes a folder of the server's user; ``usual`` is the user if unknown."""
    user = shlex.quote(usual if owner is None else owner.name)
    group = user if owner is None else shlex.quote(_group(owner))
    return f"sudo install -d -o {user} -g {group} -m 700 {shlex.quote(path)}"


def _group(owner: Owner) -> str:
    import grp

    try:
        return grp.getgrgid(owner.gid).gr_name
    except KeyError:
        return f"#{owner.gid}"


def _may_enter(owner: Owner, folder: Path) -> bool:
    """Whether the server's user can enter a folder; also if that cannot be known."""
    if os.geteuid() != 0:
        return os.geteuid() != owner.uid or os.access(folder, os.X_OK)
    groups = os.getgrouplist(owner.name, owner.gid)
    try:
        done = subprocess.run(
            ["test", "-x", folder], check=False, cwd="/", user=owner.uid, group=owner.gid,
            extra_groups=groups,
        )  # fmt: skip
    except OSError:  # root of a container without the right to become others
        return True
    return done.returncode == 0


def _groups(pid: int) -> str:
    return read_text(Path(f"/proc/{pid}/cgroup")) or ""
