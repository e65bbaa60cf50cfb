"""Judges the volumes of a system, one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dyno.decide.advise.rule import Verdict, each
from dyno.decide.advise.system import System, Volume, inapplicable


def each_volume(system: System, judge: Callable[[Volume], Verdict]) -> Iterator[Verdict]:
    """A verdict on each volume.

    Raises:
        GapError: If no volume is known.
    """
    return each(system.some_volumes(), lambda volume: volume.name, judge)


def on_storage(volume: Volume) -> Volume:
    """The volume, if a block device is under it.

    Raises:
        GapError: If not.
    """
    kind = volume.facts.text("fs_kind") if volume.facts.get("mount_point") else "disk"
    if kind != "disk":
        raise inapplicable(f"{volume.facts.text('fs_type')} is not on a block device here")
    return volume
