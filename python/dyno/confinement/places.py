"""Places for new control groups: below this process's own (version 1), or nearest above (2)."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from dyno.confinement.limits_asked import Controller
from dyno.errors import UsageError
from dyno.host.cgroup import folders
from dyno.host.files import ROOT, read_text

OWN = re.compile(r"dyno-limit-\d+-[0-9a-f]{8}")
"""Names of Dyno's groups; others are never changed."""

_CALLED: dict[Controller, str] = {"cpu": "cpu", "memory": "memory", "io": "blkio"}
"""Names of controllers in version 1."""

_ADVICE = (
    "Run Dyno as root, or in a group that this user may divide (systemd-run --user --scope); "
    "--limit cpus needs no group."
)


@dataclass(frozen=True)
class ParentGroup:
    """A group in which new ones can be created.

    Attributes:
        version: The version of control groups.
        parent: The folder of the group.
        home: The folder of this process's group there.
        controllers: The controllers that limit there.
    """

    version: int
    parent: Path
    home: Path
    controllers: frozenset[Controller]


def find(needed: Collection[Controller], root: Path = ROOT) -> list[ParentGroup]:
    """Finds where groups with these controllers can be created, one place per hierarchy.

    Raises:
        UsageError: With the missing controller or permission.
    """
    places = [_first(name, root) for name in needed if _is_first(name, root)]
    rest: list[Controller] = [name for name in needed if not _is_first(name, root)]
    return [*places, _second(rest, root)] if rest else places


def sweep(root: Path = ROOT) -> None:
    """Removes the groups of killed runs; groups in use remain.

    Dyno holds a lock on each of its groups, which the kernel releases when it dies.
    """
    for parent in parents(root):
        with contextlib.suppress(OSError):
            for entry in sorted(parent.iterdir()):
                if OWN.fullmatch(entry.name) and not entry.is_symlink():
                    _remove_if_left(entry)


def _remove_if_left(group: Path) -> None:
    with contextlib.suppress(OSError):
        descriptor = os.open(group, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            group.rmdir()
        finally:
            os.close(descriptor)


def parents(root: Path = ROOT) -> list[Path]:
    """All groups in which this process would create groups, if permitted."""
    found: dict[Path, None] = {}
    for name in _CALLED:
        found |= dict.fromkeys(_version(name, 1, root)[:1])
        found |= dict.fromkeys(_version(name, 2, root))
    return list(found)


def _version(name: Controller, version: int, root: Path) -> list[Path]:
    """The groups of this process in a version's hierarchy, its own first."""
    called = _CALLED[name] if version == 1 else name
    return [
        folder
        for folder in folders(called, root)
        if folder.is_dir() and (folder / "cgroup.controllers").exists() is (version == 2)
    ]


def _is_first(name: Controller, root: Path) -> bool:
    return bool(_version(name, 1, root))


def _first(name: Controller, root: Path) -> ParentGroup:
    own = _version(name, 1, root)[0]
    if not os.access(own, os.W_OK):
        raise UsageError(f"--limit: no right to make a control group in {own}. {_ADVICE}")
    return ParentGroup(1, own, own, frozenset({name}))


def _second(needed: list[Controller], root: Path) -> ParentGroup:
    """The nearest ancestor group that delegates these controllers to its children."""
    above = _version(needed[0], 2, root)
    if not above:
        words = " or ".join(needed)
        raise UsageError(f"--limit: this machine has no control groups for {words}. {_ADVICE}")
    lacking, denied = list(needed), None
    for folder in above:
        handed = (read_text(folder / "cgroup.subtree_control") or "").split()
        missing = [name for name in needed if name not in handed]
        if len(missing) < len(lacking):
            lacking = missing
        if missing:
            continue
        if os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK):
            return ParentGroup(2, folder, above[0], frozenset(needed))
        denied = denied or folder
    if denied is not None:
        raise UsageError(
            f"--limit: no right to make a control group in {denied}, the nearest that hands on "
            f"{' and '.join(needed)}. {_ADVICE}"
        )
    raise UsageError(
        f"--limit: no group above Dyno's ({above[0]}) hands on the controller "
        f"{' and '.join(lacking)}. {_ADVICE}"
    )
