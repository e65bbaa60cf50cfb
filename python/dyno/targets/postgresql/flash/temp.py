"""Temporary files on flash: a tablespace that ``temp_tablespaces`` names for all sessions."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from psycopg import sql

from dyno.contracts.flash import Move, Step, Wanted
from dyno.errors import DynoError, TargetError, UsageError
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.flash import spaces
from dyno.targets.postgresql.flash.at import At
from dyno.targets.postgresql.flash.spaces import Record, Space

NAME = "dyno_flash_temp"
_RELOAD_S = 10.0
"""How long the server may take to read its configuration files."""
_FROM_FILES = ("default", "configuration file")
_SESSIONS_OWN = ("database", "user", "database user", "client", "session")
"""Sources of a setting that hide the server's own value."""


@dataclass(frozen=True)
class _State:
    """Where temporary files are.

    Attributes:
        space: Dyno's tablespace.
        written: The text of the setting in postgresql.auto.conf; None if it has none.
        conf: The text in another file, which counts without the first one.
        conf_place: Its file and line.
        loaded: The names in use; None if settings of this role or database hide them.
        source: Where the value in use comes from.
        overrides: For which role and database there is another setting, and which.
    """

    space: Space | None
    written: str | None
    conf: str | None
    conf_place: str
    loaded: list[str] | None
    source: str
    overrides: dict[str, str]

    @property
    def set_to_flash(self) -> bool:
        """Whether the configuration names Dyno's tablespace, and no other."""
        return names(self.written) == [NAME]

    @property
    def set_now(self) -> list[str]:
        """The names in the configuration."""
        return names(self.conf if self.written is None else self.written)

    @property
    def in_use(self) -> bool:
        """Whether new sessions use what the configuration has."""
        return self.loaded is None or self.loaded == self.set_now


def planned(at: At, session: PostgresConnection, wanted: Wanted) -> Move:
    """What is left to do (see :mod:`dyno.contracts.flash`)."""
    at.require_admin(session)
    state = _read(session)
    there = state.set_to_flash and state.in_use and state.space is not None
    steps, notes, obstacle = (_back if wanted.back else _onto)(at, session, state, wanted)
    return Move(NAME, _now(state), there, tuple(steps), (), obstacle, tuple(notes))


def names(text: str | None) -> list[str]:
    """The tablespaces that a setting names; an empty one is that of each database."""
    found = re.findall(r'"(?:[^"]|"")*"|[^,\s]+', text or "")
    return [
        name[1:-1].replace('""', '"') if name.startswith('"') else name.lower() for name in found
    ]


def _onto(
    at: At, session: PostgresConnection, state: _State, wanted: Wanted
) -> tuple[list[Step], list[str], DynoError | None]:
    if state.source not in (*_FROM_FILES, *_SESSIONS_OWN):
        raise UsageError(
            f"temp_tablespaces of the server comes from its {state.source}, which overrides its "
            "configuration files. Remove it there first."
        )
    space, steps, notes = state.space, list[Step](), list[str]()
    obstacle: DynoError | None = None
    if space is None:
        steps, notes, obstacle = spaces.creation(at, session, NAME, wanted)
    else:
        spaces.require_same(space, wanted)
    before = None if state.set_to_flash else state.written
    record = None if space is None else space.record
    if record is None or (not state.set_to_flash and record.before != before):
        steps.append(spaces.recorded(at, session, NAME, Record("temp", before)))
    if space is None or not _is_public(session):
        grant = "GRANT CREATE ON TABLESPACE {} TO PUBLIC"
        steps.append(at.step(session, grant, sql.Identifier(NAME)))
        notes.append(
            "Temporary files need the right to create: all roles may then create tables in "
            f"{NAME}, too."
        )
    if not state.set_to_flash:
        steps.append(_set(at, session, [NAME]))
        if any(state.set_now):
            text = state.conf if state.written is None else state.written
            place = state.conf_place if state.written is None else "postgresql.auto.conf"
            notes.append(f"temp_tablespaces is {text} ({place}) now; --back brings it back.")
    if not state.set_to_flash or not state.in_use:
        steps.append(_reload(at, session, [NAME]))
    notes += [
        f"{who} has temp_tablespaces = {value}: its temporary files stay there."
        for who, value in state.overrides.items()
        if names(value) != [NAME]
    ]
    return steps, notes, obstacle


def _back(
    at: At,
    session: PostgresConnection,
    state: _State,
    wanted: Wanted,  # noqa: ARG001
) -> tuple[list[Step], list[str], DynoError | None]:
    space, steps, notes = state.space, list[Step](), list[str]()
    if space is None:
        return [], [], None
    _require_unnamed(state)
    if state.set_to_flash:
        before = space.record.before if space.record is not None else None
        steps.append(_set(at, session, None if before is None else names(before)))
        then = names(state.conf if before is None else before)
        steps.append(_reload(at, session, then))
    else:
        if state.loaded is None or NAME in state.loaded:
            steps.append(_reload(at, session, state.set_now))
        if state.written is not None and space.record is not None:
            notes.append(f"temp_tablespaces was changed since, and stays: {state.written}")
    return [*steps, spaces.removal(at, session, space)], notes, None


def _require_unnamed(state: _State) -> None:
    """Refuses to drop a tablespace that settings of others name.

    Raises:
        UsageError: With the setting.
    """
    named = {who: value for who, value in state.overrides.items() if NAME in names(value)}
    if not state.set_to_flash and NAME in names(state.written):
        named["postgresql.auto.conf"] = str(state.written)
    if NAME in names(state.conf):
        named[state.conf_place] = str(state.conf)
    for who, value in named.items():
        raise UsageError(
            f"{who} has temp_tablespaces = {value}, which Dyno did not set. Remove {NAME} there "
            "first."
        )


def _set(at: At, session: PostgresConnection, tablespaces: Sequence[str] | None) -> Step:
    if tablespaces is None:
        return at.step(session, "ALTER SYSTEM RESET temp_tablespaces")
    listed = sql.SQL(", ").join(map(sql.Literal, tablespaces or [""]))
    return at.step(session, "ALTER SYSTEM SET temp_tablespaces = {}", listed)


def _reload(at: At, session: PostgresConnection, expected: list[str]) -> Step:
    """Lets the server read its files, and waits until new sessions have the setting."""
    step = at.step(session, "SELECT pg_reload_conf()")

    def reload() -> None:
        step.run()
        deadline = time.monotonic() + _RELOAD_S
        while (found := _loaded_now(at)) not in (None, expected):
            if time.monotonic() > deadline:
                raise TargetError(
                    f"{at.server} still has temp_tablespaces = {', '.join(found or [])}; its log "
                    "says why it did not take the configuration.",
                    kind="database",
                )
            time.sleep(0.02)

    return Step(step.text, reload)


def _loaded_now(at: At) -> list[str] | None:
    with closing(at.open()) as session:
        return _loaded(session)[0]


def _loaded(session: PostgresConnection) -> tuple[list[str] | None, str]:
    """The names in use, if nothing of this role or database hides them; and their source."""
    setting, source = session.execute(
        "SELECT setting, source FROM pg_settings WHERE name = 'temp_tablespaces'"
    ).rows[0]
    return (None if source in _SESSIONS_OWN else names(str(setting))), str(source)


def _read(session: PostgresConnection) -> _State:
    written = conf = None
    conf_place = ""
    files = session.execute(
        "SELECT setting, sourcefile, sourceline FROM pg_file_settings "
        "WHERE lower(name) = 'temp_tablespaces' ORDER BY seqno"
    ).rows
    for setting, file, line in files:
        if str(file).endswith("/postgresql.auto.conf"):
            written = str(setting)
        else:
            conf, conf_place = str(setting), f"{file}, line {line}"
    loaded, source = _loaded(session)
    return _State(
        spaces.find(session, NAME), written, conf, conf_place, loaded, source, _overrides(session)
    )


def _overrides(session: PostgresConnection) -> dict[str, str]:
    rows = session.execute(
        "SELECT rolname, datname, substr(one, 18) FROM pg_db_role_setting "
        "LEFT JOIN pg_roles r ON r.oid = setrole LEFT JOIN pg_database d ON d.oid = setdatabase, "
        "unnest(setconfig) one WHERE starts_with(one, 'temp_tablespaces=') ORDER BY 1, 2"
    ).rows
    found: dict[str, str] = {}
    for role, database, value in rows:
        who = [f"role {role}"] if role else []
        who += [f"database {database}"] if database else []
        found[", ".join(who) or "ALTER ROLE ALL"] = str(value)
    return found


def _is_public(session: PostgresConnection) -> bool:
    query = sql.SQL("SELECT has_tablespace_privilege('public', {}, 'CREATE')")
    return bool(session.execute(query.format(sql.Literal(NAME)).as_string(session.raw)).rows[0][0])


def _now(state: _State) -> str:
    found = ", ".join(filter(None, state.set_now))
    if not found:
        return "temporary files in the tablespace of each database"
    where = f" ({state.space.location})" if state.space and state.set_to_flash else ""
    return f"temporary files in {found}{where}" + (
        "" if state.in_use else ", which the server has not read yet"
    )
