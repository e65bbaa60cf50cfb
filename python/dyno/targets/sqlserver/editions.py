"""What an edition limits. Pure.

Source: Microsoft, "Editions and supported features of SQL Server", 2017 to 2025. Enterprise,
Developer and Evaluation have none of these limits.
"""

from __future__ import annotations

from dataclasses import dataclass

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
