"""Transactions of SQLite: serializable, as there is one writer and readers see one moment."""

from __future__ import annotations

from dyno.contracts.isolation import Isolation

_LEVEL = "serializable"


def _begin(_level: str, writes: bool) -> tuple[str, ...]:
    # A deferred transaction that writes after a read fails if another session has written.
    return ("BEGIN IMMEDIATE" if writes else "BEGIN",)


ISOLATION = Isolation((_LEVEL,), _LEVEL, _begin)
