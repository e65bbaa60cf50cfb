"""Statements of a move, each in a session of its own: none may run inside a transaction."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from psycopg import sql

from dyno.contracts.flash import Step
from dyno.errors import TargetError, UsageError
from dyno.targets.postgresql.connection import PostgresConnection


@dataclass(frozen=True)
class At:
    """A server at a URL.

    Attributes:
        open: Opens a session.
        server: Its name in messages.
    """

    open: Callable[..., PostgresConnection]
    server: str

    def step(self, session: PostgresConnection, text: str, *parts: sql.Composable) -> Step:
        """A statement as a step; ``parts`` fill the ``{}`` of ``text``."""
        whole = sql.SQL(text).format(*parts).as_string(session.raw)  # pyright: ignore[reportArgumentType]

        def run() -> None:
            with closing(self.open()) as own:
                own.execute(whole)

        return Step(f"{whole};", run)

    def require_admin(self, session: PostgresConnection) -> None:
        """Refuses who may not create tablespaces, and a standby.

        Raises:
            TargetError: With the statement that gives the right.
            UsageError: If the server is a standby.
        """
        user, may, standby = session.execute(
            "SELECT current_user, rolsuper, pg_is_in_recovery() FROM pg_roles "
            "WHERE rolname = current_user"
        ).rows[0]
        if not may:
            given = sql.SQL("ALTER ROLE {} SUPERUSER;").format(sql.Identifier(user))
            raise TargetError(
                f"{self.server}: only superusers may create tablespaces. Connect as one, or let "
                f"one run: {given.as_string(session.raw)}",
                kind="denied",
            )
        if standby:
            raise UsageError(f"{self.server} is a standby; move it on its primary.")
