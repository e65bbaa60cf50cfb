"""Free connections of a server, for errors about too many users."""

from __future__ import annotations

from dataclasses import dataclass

from dyno.targets.postgresql.connection import PostgresConnection

# The second setting exists since version 16. Every user may read the number of backends.
_QUESTION = """
SELECT current_setting('max_connections')::int,
    CASE WHEN r.rolsuper THEN 0 ELSE current_setting('superuser_reserved_connections')::int
        + coalesce(current_setting('reserved_connections', true)::int, 0) END,
    (SELECT sum(numbackends) FROM pg_stat_database)::int - 1,
    CASE WHEN r.rolsuper THEN -1 ELSE r.rolconnlimit END,
    CASE WHEN r.rolsuper THEN -1 ELSE d.datconnlimit END
FROM pg_roles r, pg_database d
WHERE r.rolname = current_user AND d.datname = current_database()
"""


@dataclass(frozen=True)
class SessionLimits:
    """Limits on the sessions of a role in a database.

    Attributes:
        most: ``max_connections``.
        reserved: Connections that the role may not use.
        used: Sessions of other users.
        role: The limit of the role; -1 for no limit.
        database: The limit of the database; -1 for no limit.
    """

    most: int
    reserved: int
    used: int
    role: int = -1
    database: int = -1

    @classmethod
    def of(cls, session: PostgresConnection) -> SessionLimits:
        """Queries the server; the session itself is not counted.

        Raises:
            DynoError: If it does not respond.
        """
        return cls(*map(int, session.execute(_QUESTION).rows[0]))

    @property
    def users(self) -> int:
        """The number of sessions that can be opened."""
        caps = [cap for cap in (self.role, self.database) if cap >= 0]
        return max(0, min([self.most - self.reserved - self.used, *caps]))

    def text(self) -> str:
        """The free connections, as text."""
        words = [f"max_connections is {self.most}"]
        words += [f"{self.reserved} are reserved"] if self.reserved else []
        words += [f"{self.used} in use"] if self.used else []
        words += [f"its role is limited to {self.role}"] if self.role >= 0 else []
        words += [f"its database is limited to {self.database}"] if self.database >= 0 else []
        return f"Before the run it had {self.users} free connections ({', '.join(words)})."
