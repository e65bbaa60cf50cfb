"""Statements that need a database for themselves: tried again until its closed sessions have ended.

The server ends a session some time after its client closed it.
"""

from __future__ import annotations

import time

from dyno.errors import DynoError, error_of_kind
from dyno.targets.sqlserver.connection import Session

RELEASE_S = 5.0
"""How long a server may take to end a session that was closed."""
_AGAIN_S = 0.1


def execute(session: Session, statement: str, failed: str) -> None:
    """Runs a statement that fails while another session uses the database.

    Args:
        session: A session.
        statement: The statement. It must not wait for others itself.
        failed: What was not done, for the error.

    Raises:
        DynoError: If another session uses the database; nothing was changed.
    """
    give_up = time.monotonic() + RELEASE_S
    while True:
        try:
            session.execute(statement)
        except DynoError as error:
            if error.kind == "database" and time.monotonic() < give_up:
                time.sleep(_AGAIN_S)
                continue
            raise error_of_kind(error.kind, f"{failed}: {error}") from error
        return
