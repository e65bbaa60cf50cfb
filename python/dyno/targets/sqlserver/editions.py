"""What an edition limits. Pure.

Source: Microsoft, "Editions and supported features of SQL Server", 2017 to 2025. Enterprise,
Developer and Evaluation have none of these limits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dyno.config.settings import bytes_text
from dyno.contracts.tuning import Change
from dyno.targets.sqlserver.tuning import MAXDOP, MEMORY
from dyno.targets.sqlserver.version import Version

_GIB = 1 << 30
_EXPRESS_BYTES = 1410 << 20
_2025 = 17


@dataclass(frozen=True)
class Limits:
    """Limits of an edition.

    Attributes:
        edition: Its name.
        cache_bytes: The most memory of the buffer pool.
        batch_cpus: The most CPUs of a query in batch mode, which reads column stores.
        governor: Whether it has the resource governor.
    """

    edition: str
    cache_bytes: int
    batch_cpus: int
    governor: bool = False


def lacks_governor(version: Version) -> bool:
    """Whether its edition has no resource governor."""
    found = limits(version.edition, version.major)
    return found is not None and not found.governor


def most_cache(version: str) -> float | None:
    """The most bytes of the buffer pool; None without a limit.

    Args:
        version: As the record shows it: ``SQLServer 2022 (16.0.4135.4) Web Edition (64-bit)``.
    """
    found = re.search(r"\((\d+)[\d.]*\) (.+)", version)
    own = limits(found[2], int(found[1])) if found else None
    return None if own is None else own.cache_bytes


def note(version: Version, change: Change) -> str:
    """What the server does not use of a value that it accepts; empty if it uses all."""
    found = limits(version.edition, version.major)
    if found is None or change.amount is None:
        return ""
    if change.name == MEMORY and change.amount << 20 > found.cache_bytes:
        return f"{found.edition} caps its buffer pool at {bytes_text(found.cache_bytes)}"
    if change.name == MAXDOP and change.amount > found.batch_cpus:
        return f"{found.edition} limits batch mode (column stores) to {found.batch_cpus}"
    return ""


def limits(edition: str, major: int) -> Limits | None:
    """Its limits; None if it has none of these, or is unknown.

    Args:
        edition: SERVERPROPERTY('Edition'), such as ``Standard Edition (64-bit)``.
        major: The major version of the server.
    """
    word = edition.partition(" ")[0]
    newer = major >= _2025
    known = {
        "Express": Limits("Express Edition", _EXPRESS_BYTES, 1),
        "Web": Limits("Web Edition", 64 * _GIB, 1),
        "Standard": Limits("Standard Edition", (256 if newer else 128) * _GIB, 2, governor=newer),
    }
    return known.get(word)
