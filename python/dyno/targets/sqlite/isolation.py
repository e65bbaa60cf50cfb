"""Transaction isolation in SQLite: serializable, with one writer and snapshot reads."""

from __future__ import annotations

from dyno.contracts.isolation import Isolation

_LEVEL = "serializable"


def _begin(_level: str, writes: bool) -> tuple[str, ...]:
    # A deferred transaction that writes after a read fails if another session has written.
    return ("BEGIN IMMEDIATE" if writes else "BEGIN",)


ISOLATION = Isolation((_LEVEL,), _LEVEL, _begin)
