"""Temporary files, databases and the log of a PostgreSQL at a URL on flash, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing

from dyno.contracts.flash import Move, Part, Wanted
from dyno.targets.postgresql.address import Address, require_version
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.flash import database, log, temp
from dyno.targets.postgresql.flash.at import At

LACKS: Mapping[Part, str] = {}


def planned(
    open_session: Callable[..., PostgresConnection], address: Address, wanted: Wanted
) -> Move:
    """What is left to do of a move (see :mod:`dyno.contracts.flash`).

    Args:
        open_session: Opens a session, with parameters of libpq.
        address: The server.
        wanted: What is to be moved.
    """
    at = At(open_session, address.server)
    if wanted.part == "database":
        return database.planned(at, address, wanted)
    with closing(at.open()) as session:
        require_version(session, at.server)
        plan = temp.planned if wanted.part == "temp" else log.planned
        return plan(at, session, wanted)
