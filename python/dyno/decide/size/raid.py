"""RAID: I/Os at the disks for those of the database, usable capacity, and measured levels."""

from __future__ import annotations

import re
from dataclasses import dataclass

PENALTY = {"0": 1, "1": 2, "10": 2, "5": 4, "50": 4, "6": 6, "60": 6}
"""I/Os at the disks for one small random write."""

FEWEST = {"0": 1, "1": 2, "10": 4, "5": 3, "50": 6, "6": 4, "60": 8}
"""The smallest number of disks."""

GROUPS = 2
"""Groups of RAID 50 and 60."""


def level_of(layers: object) -> str | None:
    """The level in the description of a volume's layers, ``LVM on raid1``; None if plain."""
    found = re.search(r"raid ?(10|50|60|[0156])\b", str(layers).lower()) if layers else None
    return None if found is None else found[1]


def backend(level: str | None, reads: float) -> float:
    """I/Os at the disks for one of the database: R + pW.

    Args:
        level: The level; None for a plain disk.
        reads: Share of reads, 0 to 1.
    """
    return reads + PENALTY[level or "0"] * (1 - reads)


def usable(disks: int, level: str | None) -> float:
    """Disks' worth of capacity that ``disks`` disks have; 0 if they are too few."""
    level = level or "0"
    if disks < FEWEST[level]:
        return 0.0
    lost = {"0": 0.0, "1": disks / 2, "10": disks / 2, "5": 1.0, "6": 2.0}
    return disks - (lost[level] if level in lost else GROUPS * (1 if level == "50" else 2))


@dataclass(frozen=True)
class Compared:
    """IOPS of a level relative to another one with the same disks.

    Attributes:
        reads: Share of reads in the mix.
        theory: By the write penalties.
        measured: By two profiles; None without both.
    """

    level: str
    of: str
    reads: float
    theory: float
    measured: float | None
    source: str = ""


def theory(level: str | None, of: str | None, reads: float) -> float:
    """IOPS of ``level`` divided by those of ``of``, with the same disks and mix."""
    return backend(of, reads) / backend(level, reads)
