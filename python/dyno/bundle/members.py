"""Identifies the files of a bundle that Dyno wrote. Only these are packed, opened and removed."""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from dyno.errors import UsageError
from dyno.safety.safefiles import directory, is_own, open_regular

_NAME = r"[^/.\x00-\x1f\x7f][^/\x00-\x1f\x7f]*"
_FOLDER = re.compile(rf"(superseded/)?ops|superseded|pieces|plans|plans/{_NAME}")
_MEMBER = re.compile(
    r"(run|progress|(superseded/)?checks|estimates|findings|certificate)\.json|events\.jsonl"
    r"|(sheet|certificate)\.html|certificate\.pdf"
    r"|flash\.dyno\.parquet"
    r"|(superseded/)?(samples|queries|during|statements|relations|columns|io|io_parts|io_intervals)\.(jsonl|parquet)"
    r"|pieces/[a-z_]+-[0-9]{6}\.(jsonl|parquet)"
    rf"|(superseded/)?ops/{_NAME}\.(jsonl|parquet)|plans/{_NAME}/{_NAME}\.json"
)
_REST = re.compile(r"\.reserve|(?P<folder>(.*/)?)\.(?P<name>.+?)(\.[0-9a-f]{16})?\.partial")
"""Remains of a killed run: the space reserve for the end of a run, and partial files."""


def is_member(name: str) -> bool:
    """Whether Dyno writes a file of that name, relative to the bundle, separated by ``/``."""
    return _MEMBER.fullmatch(name) is not None


def is_folder(name: str) -> bool:
    """Whether Dyno creates a folder of that name in a bundle."""
    return _FOLDER.fullmatch(name) is not None


@dataclass
class Content:
    """The content of a bundle folder, by names relative to it.

    Attributes:
        members: Regular files of the bundle, with their sizes in bytes.
        rest: Remains of a killed run.
        folders: Folders that Dyno creates, parents first.
        others: Links, folders and files that Dyno did not create.
    """

    members: dict[str, int] = field(default_factory=dict[str, int])
    rest: list[str] = field(default_factory=list[str])
    folders: list[str] = field(default_factory=list[str])
    others: list[str] = field(default_factory=list[str])


def content(bundle: Path) -> Content:
    """Lists the folder ``bundle``, which must not be a link.

    Raises:
        OSError, UsageError: If it cannot be read.
    """
    found = Content()
    with directory(bundle) as fd:
        _scan(fd, "", found)
    return found


def is_own_bundle(bundle: Path) -> bool:
    """Whether ``bundle`` is a folder of this user, not a link, and contains a head of this user."""
    try:
        with directory(bundle) as fd, open_regular("run.json", at=fd) as head:
            return is_own(fd) and is_own(head.fileno())
    except (OSError, UsageError):
        return False


def remove(bundle: Path) -> None:
    """Removes a bundle. Files that Dyno did not create remain, with their folders.

    Raises:
        OSError, UsageError: If it belongs to another user or cannot be removed.
    """
    with directory(bundle.parent, follow=True) as above, directory(bundle.name, above=above) as fd:
        if not is_own(fd):
            raise PermissionError(1, "it belongs to another user", str(bundle))
        found = Content()
        _scan(fd, "", found)
        # The head goes last: an interrupted removal leaves a bundle that can be removed again.
        for name in sorted([*found.members, *found.rest], key=lambda name: name == "run.json"):
            os.unlink(name, dir_fd=fd)
        with contextlib.suppress(OSError):  # the folder contains a file of the user
            for name in reversed(found.folders):
                with contextlib.suppress(OSError):
                    os.rmdir(name, dir_fd=fd)
            os.rmdir(bundle.name, dir_fd=above)


def _scan(fd: int, prefix: str, found: Content) -> None:
    with os.scandir(fd) as entries:
        every = sorted(entries, key=lambda entry: entry.name)
    for entry in every:
        name = prefix + entry.name
        if entry.is_dir(follow_symlinks=False) and is_folder(name):
            found.folders.append(name)
            with directory(entry.name, above=fd) as inner:
                _scan(inner, f"{name}/", found)
        elif not entry.is_file(follow_symlinks=False):
            found.others.append(name)
        elif is_member(name):
            found.members[name] = entry.stat(follow_symlinks=False).st_size
        elif _is_rest(name):
            found.rest.append(name)
        else:
            found.others.append(name)


def _is_rest(name: str) -> bool:
    left = _REST.fullmatch(name)
    if left is None:
        return False
    return left["name"] is None or is_member(left["folder"] + left["name"])
