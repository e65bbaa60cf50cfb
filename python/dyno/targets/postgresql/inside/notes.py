"""Rights and settings that observing a server needs, each with its remedy."""

from __future__ import annotations

from psycopg import sql

from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.inside import temp
from dyno.targets.postgresql.inside.observer import rows

RIGHT = "pg_read_all_stats"
"""The role that may see sessions and statements of others; superusers and pg_monitor have it."""

_SETTINGS = {
    "track_wal_io_timing": "the times of log writes and flushes are not measured",
    "track_activities": "active sessions are not shown",
    "track_counts": "reads and rows by table and index are not counted",
}
_QUESTION = f"""SELECT current_user AS role, pg_has_role('{RIGHT}', 'USAGE') AS sees,
ARRAY(SELECT name FROM pg_settings WHERE name = ANY(%(settings)s) AND setting = 'off') AS off
"""  # noqa: S608  (a fixed name)


def read(session: PostgresConnection) -> list[str]:
    """What this role and this server do not show; one line each.

    Raises:
        DynoError: If the server does not respond.
    """
    (found,) = rows(session, _QUESTION, {"settings": list(_SETTINGS)})
    role = sql.Identifier(found["role"]).as_string(session.raw)
    notes = [
        f"{words}; an administrator must run: ALTER SYSTEM SET {name} = on; "
        "SELECT pg_reload_conf();"
        for name, words in _SETTINGS.items()
        if name in found["off"]
    ]
    if not found["sees"]:
        notes.append(
            f"the role {found['role']} does not see sessions and statements of other roles; an "
            f"administrator must run: GRANT {RIGHT} TO {role};"
        )
    if not temp.may_read(session):
        functions = ", ".join(temp.FUNCTIONS)
        notes.append(
            f"the role {found['role']} may not read the size of temporary files; a superuser must "
            f"run in this database: GRANT EXECUTE ON FUNCTION {functions} TO {role};"
        )
    return notes
