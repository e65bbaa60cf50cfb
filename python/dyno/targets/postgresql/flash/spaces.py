"""Dyno's tablespaces on flash. Each has a record of what was before, as its comment.

So a move can be undone from any machine, and after a crash.
"""

from __future__ import annotations

import json
import os
import posixpath
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from psycopg import sql

from dyno.contracts.flash import Part, Step, Wanted
from dyno.errors import DynoError, UsageError
from dyno.servers import onflash
from dyno.targets.postgresql import whereabouts
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.ddl import run
from dyno.targets.postgresql.flash.at import At

USER = "postgres"
"""The usual user of a server whose process is not on this machine."""


@dataclass(frozen=True)
class Record:
    """What was before.

    Attributes:
        before: Of ``temp`` the text of the setting in postgresql.auto.conf, None if it had none; of
            ``database`` the name of its tablespace.
    """

    part: Part
    before: str | None
    dyno: str = "on flash"

    @classmethod
    def parse(cls, comment: str) -> Record | None:
        """The record in a comment; None if it is not Dyno's."""
        try:
            found = json.loads(comment)
        except ValueError:
            return None
        match found:
            case {"dyno": cls.dyno, "part": "temp" | "database" as part, "before": str() | None}:
                return cls(part, found["before"])
            case _:
                return None


@dataclass(frozen=True)
class Space:
    """A tablespace of Dyno's.

    Attributes:
        record: None if a move was interrupted before it was written.
    """

    name: str
    location: str
    record: Record | None


def find(session: PostgresConnection, name: str) -> Space | None:
    """The tablespace ``name``, if it exists.

    Raises:
        UsageError: If it is not Dyno's.
    """
    query = sql.SQL(
        "SELECT pg_tablespace_location(oid), shobj_description(oid, 'pg_tablespace') "
        "FROM pg_tablespace WHERE spcname = {}"
    )
    for location, comment in run(session, [query.format(sql.Literal(name))]):
        record = Record.parse(str(comment or ""))
        if record is None and (comment or posixpath.basename(location) != name):
            raise UsageError(f"The tablespace {name} is not Dyno's; rename it.")
        return Space(name, str(location), record)
    return None


def creation(
    at: At, session: PostgresConnection, name: str, wanted: Wanted
) -> tuple[list[Step], list[str], DynoError | None]:
    """The steps that create a tablespace; notes, and what stands against it."""
    path = onflash.within(wanted.folder, name)
    here = whereabouts.find(session)
    owner = onflash.owner_of(here.pid)
    step = at.step(
        session, "CREATE TABLESPACE {} LOCATION {}", sql.Identifier(name), sql.Literal(path)
    )
    steps, notes = [Step(step.text, partial(_create, step, path, owner))], list[str]()
    if owner is None:
        notes.append(
            "The folder is one of the server's machine, where an administrator makes it: "
            f"{onflash.install(path, None, USER)}"
        )
    else:
        data = next(iter(here.storage.get("data", ())), "")
        onflash.require(path, owner, str(data))
        if not Path(path).exists() or os.geteuid() == 0:
            made = partial(onflash.make, path, owner)
            steps.insert(0, Step(f"Make {path} for {owner.name}", made))
    return steps, notes, _standbys(session, path, wanted)


def recorded(at: At, session: PostgresConnection, name: str, record: Record) -> Step:
    """Writes a record."""
    text = sql.Literal(json.dumps(asdict(record)))
    return at.step(session, "COMMENT ON TABLESPACE {} IS {}", sql.Identifier(name), text)


def removal(at: At, session: PostgresConnection, space: Space) -> Step:
    """Drops a tablespace that nothing uses any more, and its folder if that is here."""
    step = at.step(session, "DROP TABLESPACE {}", sql.Identifier(space.name))

    def drop() -> None:
        try:
            step.run()
        except DynoError as error:
            if "not empty" not in str(error):
                raise
            raise UsageError(
                f"{space.name} still has files: of sessions with temporary tables or large "
                "queries, or tables that others created there. Run this again when they are gone."
            ) from error
        onflash.remove(space.location)

    return Step(step.text, drop)


def require_same(space: Space, wanted: Wanted) -> None:
    """Refuses a tablespace that lies elsewhere than is wanted.

    Raises:
        UsageError: If it does.
    """
    if onflash.within(wanted.folder, space.name) != space.location:
        raise UsageError(
            f"{space.name} lies in {space.location}. Move it back first (--back), or name that "
            "folder."
        )


def _create(step: Step, path: str, owner: onflash.Owner | None) -> None:
    try:
        step.run()
    except DynoError as error:
        if not any(word in str(error) for word in ("does not exist", "ermission", "in use")):
            raise
        made = onflash.install(path, owner, USER)
        raise type(error)(f"{error} On the server's machine: {made}", kind=error.kind) from error


def _standbys(session: PostgresConnection, path: str, wanted: Wanted) -> DynoError | None:
    """Standbys stop replay at a tablespace whose folder they lack."""
    count = session.execute(
        "WITH slot AS (SELECT * FROM pg_replication_slots WHERE NOT temporary) "
        "SELECT (SELECT count(*) FROM slot WHERE slot_type = 'physical') + "
        "(SELECT count(*) FROM pg_stat_replication r WHERE state <> 'backup' "
        "AND NOT EXISTS (SELECT 1 FROM slot WHERE active_pid = r.pid))"
    ).rows[0][0]
    if not count or wanted.standbys_ready:
        return None
    return UsageError(
        f"The server has {count} standby(s) or slots for them. A standby without the folder {path} "
        "stops replay: make it on each, then add --standbys-ready."
    )
