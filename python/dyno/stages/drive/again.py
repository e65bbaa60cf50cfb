"""Replaces the lost session of a stream, so that the remaining queries still run."""

from __future__ import annotations

from dyno import workloads
from dyno.contracts.target import Connection, Target
from dyno.errors import DynoError, Interrupted, TargetError


def connect_again(target: Target, workload: str, lost: Connection, reason: str) -> Connection:
    """Opens a session to replace ``lost`` and tests it with a statement.

    Args:
        target: The target.
        workload: The workload; unqualified table names refer to its tables.
        lost: The broken session. It is closed.
        reason: The error message of the lost session.

    Raises:
        TargetError: If the server is gone. The kind is ``connection_lost``.
    """
    lost.close()
    try:
        connection = target.connect(workloads.place_of(workload))
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
    """Joins both messages, unless they are identical."""
    return reason if str(error) == reason else f"{reason} A new session failed, too: {error}"
