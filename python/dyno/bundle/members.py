"""Which files of a bundle's folder Dyno wrote: those are packed, opened and removed, no others."""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from dyno.errors import UsageError
from dyno.safety.safefiles import directory, is_own, open_regular

_NAME = r"[^/.\x00-\x1f\x7f][^/\x00-\x1f\x7f]*"
_FOLDER = re.compile(rf"ops|plans|plans/{_NAME}")
_MEMBER = re.compile(
    r"(run|checks|estimates|findings)\.json|events\.jsonl|sheet\.html"
    r"|(samples|queries|during|io|io_parts|io_intervals)\.(jsonl|parquet)"
    rf"|ops/{_NAME}\.(jsonl|parquet)|plans/{_NAME}/{_NAME}\.json"
)
_REST = re.compile(r"\.reserve|(?P<folder>(.*/)?)\.(?P<name>.+?)(\.[0-9a-f]{16})?\.partial")
"""What a kill leaves: the room that is kept for the end of a run, and files half written."""


def is_member(name: str) -> bool:
    """Whether Dyno writes a file of that name, relative to the bundle; ``/`` parts folders."""
    return _MEMBER.fullmatch(name) is not None


def is_folder(name: str) -> bool:
    """Whether Dyno makes a folder of that name in a bundle."""
    return _FOLDER.fullmatch(name) is not None


@dataclass
class Content:
    """What is in a bundle's folder, by names relative to it.

    Attributes:
        members: Regular files that belong to the bundle, with their bytes.
        rest: What a kill has left.
        folders: Those that Dyno makes, outer ones first.
        others: Links, folders and files that Dyno did not make.
    """

    members: dict[str, int] = field(default_factory=dict[str, int])
    rest: list[str] = field(default_factory=list[str])
    folders: list[str] = field(default_factory=list[str])
    others: list[str] = field(default_factory=list[str])


def content(bundle: Path) -> Content:
    """What is in the folder ``bundle``, which is no link.

    Raises:
        OSError, UsageError: If it cannot be read.
    """
    found = Content()
    with directory(bundle) as fd:
        _scan(fd, "", found)
    return found


def is_own_bundle(bundle: Path) -> bool:
    """Whether ``bundle`` is a folder of this user's, no link, with a head of this user's in it."""
    try:
        with directory(bundle) as fd, open_regular("run.json", at=fd) as head:
            return is_own(fd) and is_own(head.fileno())
    except (OSError, UsageError):
        return False


def remove(bundle: Path) -> None:
    """Removes a bundle; what Dyno did not make stays, and then its folders do.

    Raises:
        OSError, UsageError: If it is not this user's, or cannot be removed.
    """
    with directory(bundle.parent, follow=True) as above, directory(bundle.name, above=above) as fd:
        if not is_own(fd):
            raise PermissionError(1, "it belongs to another user", str(bundle))
        found = Content()
        _scan(fd, "", found)
        # The head goes last: cut off before, it is still a bundle that the next time removes.
        for name in sorted([*found.members, *found.rest], key=lambda name: name == "run.json"):
            os.unlink(name, dir_fd=fd)
        with contextlib.suppress(OSError):  # something of the user's is in one
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
