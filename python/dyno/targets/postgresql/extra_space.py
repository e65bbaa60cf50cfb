"""Additional space of maintenance: half-built indexes and sort runs."""

from __future__ import annotations

from collections.abc import Callable

from psycopg import sql

from dyno.errors import DynoError
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.ddl import run
from dyno.targets.postgresql.inside import temp

_INVALID = (
    "SELECT coalesce(sum(pg_relation_size(x.indexrelid)), 0)::bigint FROM pg_index x "
    "JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_namespace n ON n.oid = i.relnamespace "
    "WHERE n.nspname = {} AND NOT x.indisvalid"
)


class Space:
    """Measures from its own session. Only ``seen`` is thread-safe."""

    def __init__(self, connect: Callable[[], PostgresConnection], pid: int, place: str) -> None:
        """Measures the work of process ``pid`` in schema ``place``.

        Raises:
            DynoError: If the server does not respond.
        """
        self._session = connect()
        self._place = place
        self._pid = pid
        self._seen = 0
        try:
            self._before = self._indexes()
            self._hidden = self._hides_files()
        except BaseException:
            self.close()
            raise

    def seen(self, size: int) -> None:
        """Records space that must have been used, even if no reading saw it."""
        self._seen = max(self._seen, size)

    def read(self) -> int | None:
        """Current bytes, or the maximum of :meth:`seen`, if larger.

        None without the right to list temporary files: the rest would pass for all of it.
        """
        if self._hidden:
            return None
        try:
            now = self._indexes() - self._before + self._temporary()
        except DynoError:
            return None
        return max(now, self._seen, 0)

    def close(self) -> None:
        """Ends the session."""
        self._session.close()

    def _indexes(self) -> int:
        query = sql.SQL(_INVALID).format(sql.Literal(self._place))
        return int(run(self._session, [query])[0][0])

    def _temporary(self) -> int:
        return int(temp.used_bytes(self._session, self._pid))

    def _hides_files(self) -> bool:
        try:
            self._temporary()
        except DynoError as error:
            if error.kind != "denied":
                raise
            return True
        return False
