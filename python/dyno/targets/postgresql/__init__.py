"""PostgreSQL 14 and newer by URL, and a private PostgreSQL 18 as ``embedded:postgresql``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dyno.contracts.target import LimitedPlace, Limits, Target, TargetUrl

SCHEMES = ("postgresql", "postgres")
EXAMPLE = "postgresql://user@host/database"
EMBEDDED = True
LIMITED: Mapping[str, LimitedPlace] = {"embedded": "server"}
SERVER = True
STORE = "row store"
# Measured with TPC-H at scale 1, with all keys and indexes: 2.84 GB, of which 1.15 GB WAL.
EXPANSION = 2.6


def lacks() -> str | None:
    """Requirements of the private server; a server at a URL has none."""
    from dyno.errors import TargetError
    from dyno.targets.postgresql import binaries

    try:
        binaries.find()
    except TargetError as error:
        return str(error)
    return None


def leads_to(url: TargetUrl) -> tuple[str, ...]:
    """Server and database of ``url``."""
    from dyno.targets.postgresql.address import Address

    return Address.parse(url).leads_to


def open_target(url: TargetUrl, out: Path, limits: Limits) -> Target:
    """The server at ``url``, or the private one with its data in ``out/engines/postgresql``."""
    from dyno.targets.postgresql.target import PostgresTarget

    return PostgresTarget(url, out, limits)
