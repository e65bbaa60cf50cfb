"""Waits until a server uses a new limit of its memory.

``value_in_use`` of the limit changes at once. The server then frees memory in the background, and
after that adapts what it has for sorts and hashes.
"""

from __future__ import annotations

import time

from dyno.config.settings import bytes_text
from dyno.errors import DynoError
from dyno.targets.sqlserver import state
from dyno.targets.sqlserver.connection import Session

QUERY = (
    "SELECT CAST(committed_kb AS bigint) * 1024, CAST(committed_target_kb AS bigint) * 1024 "
    "FROM sys.dm_os_sys_info"
)
LIMIT_S = 120.0
PERIOD_S = 1.0
_ALIKE = 5
"""Readings in a row with nearly the same size for sorts and hashes, which lags behind the limit."""
_NEARLY = 1.05

_UNSETTLED = (
    "after {seconds:.0f} s the server had not settled: {memory} of memory, {space} for sorts and "
    "hashes"
)
_UNKNOWN = "it is unknown whether the server has settled: {reason}"


def settle(session: Session, limit: int) -> str:
    """Waits, at most for :data:`LIMIT_S`.

    Args:
        session: A session.
        limit: The new limit in bytes.

    Returns:
        A note for the record if the server has not settled; else empty.

    Raises:
        DynoError: If the server does not respond.
    """
    give_up = time.monotonic() + LIMIT_S
    sizes: list[int] = []
    while True:
        try:
            used, target = map(int, session.execute(QUERY).rows[0])
            sizes = [*sizes[1 - _ALIKE :], state.workspace_bytes(session)]
        except DynoError as error:
            if not error.is_refusal:
                raise
            return _UNKNOWN.format(reason=str(error).rstrip("."))
        steady = len(sizes) == _ALIKE and max(sizes) <= _NEARLY * min(sizes)
        if steady and used <= _NEARLY * target and max(target, sizes[-1]) <= limit:
            return ""
        if time.monotonic() >= give_up:
            return _UNSETTLED.format(seconds=LIMIT_S, memory=_mib(used), space=_mib(sizes[-1]))
        time.sleep(PERIOD_S)


def _mib(size: int) -> str:
    return bytes_text(size >> 20 << 20)
