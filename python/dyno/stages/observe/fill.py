"""Probe of a target: how full the file systems under its files are.

Source ``volume``, subject: a role of its files (``data``, ``log``, ``partition-1`` …). ``fill``:
used space of the space that an ordinary user can have, in %, as df(1) prints it; of several file
systems the fullest.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from dyno.bundle.metrics.resource import VOLUME
from dyno.contracts.probe import Sample
from dyno.host.storage import nearest_existing


class FillProbe:
    """Reads ``statvfs`` of each path."""

    name = VOLUME
    period_s = 2.0
    deadline_s = 2.0

    def __init__(self, places: Mapping[str, Sequence[Path]]) -> None:
        """Opens nothing.

        Args:
            places: Paths by role.
        """
        self._places = places

    def read(self, now_ns: int) -> Sequence[Sample]:  # noqa: ARG002
        """Returns the fill of each role; a path that cannot be read is left out."""
        known: dict[Path, float | None] = {}
        rows: list[Sample] = []
        for role, paths in self._places.items():
            for path in paths:
                if path not in known:
                    known[path] = _fill(path)
            found = [fill for path in paths if (fill := known[path]) is not None]
            if found:
                rows.append(Sample(VOLUME, role, "fill", max(found), "%"))
        return rows

    def close(self) -> None:
        """Has nothing to release."""


def _fill(path: Path) -> float | None:
    try:
        space = os.statvfs(nearest_existing(path))
    except OSError:
        return None
    used = space.f_blocks - space.f_bfree
    whole = used + space.f_bavail
    return 100 * used / whole if whole > 0 else None
