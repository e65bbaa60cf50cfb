"""A new session for a stream whose own was lost with a query, so that the others are still run."""

from __future__ import annotations

from dyno.contracts.target import Connection, Target
from dyno.errors import DynoError, Interrupted, TargetError


def connect_again(target: Target, workload: str, lost: Connection, reason: str) -> Connection:
    """Opens a session in the place of ``lost``, and proves it with a statement.

    Args:
        target: Where.
        workload: Whose tables plain names in it mean.
        lost: The session that broke; it is closed.
        reason: What was told when it broke.

    Raises:
        TargetError: If the server is gone, of the kind ``connection_lost``.
    """
    lost.close()
    try:
        connection = target.connect(workload)
    except Interrupted:
        raise
    except DynoError as error:
        raise TargetError(_sentence(reason, error), kind="connection_lost") from error
    try:
        connection.execute("SELECT 1")
    except BaseException as error:
        connection.close()
        if isinstance(error, DynoError) and not isinstance(error, Interrupted):
            raise TargetError(_sentence(reason, error), kind="connection_lost") from error
        raise
    return connection


def _sentence(reason: str, error: DynoError) -> str:
    """Both, unless they say the same."""
    return reason if str(error) == reason else f"{reason} A new session failed, too: {error}"
