"""Moments of the client in UTC, as loaded data has them: the clock of a server may be local."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """The current time as an SQL literal."""
    return f"'{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}'"


def today() -> str:
    """The current date as an SQL literal."""
    return f"'{datetime.now(UTC):%Y-%m-%d}'"
