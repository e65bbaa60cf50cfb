"""How old the data is that a query sees while transactions change it.

A query is as fresh as the newest transactions that it sees. Freshness is the time from the begin of
the oldest transaction that had committed before the query started, but that the query does not
see, to the start of the query; 0 if it sees all of them. The definition follows HATtrick (E. Milkai
et al., "How Good is My HTAP System?", SIGMOD 2022, section 3.3), which takes the commit of that
transaction. A database stores when it began, so this value is greater by one response time at most.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Key = tuple[int, ...]

_EPOCH = dt.datetime(1970, 1, 1)  # databases store UTC without a zone


@dataclass(frozen=True)
class Freshness:
    """Statements that tell which transactions a session sees.

    Transactions of a workload number themselves in several series without gaps, such as the orders
    of each district.

    Attributes:
        newest: Neutral SQL for the newest visible transaction of each series: the integers of the
            series, its number, and when it began.
        began: Neutral SQL for the begin of one transaction, with ``{key1}``, ``{key2}`` … and
            ``{number}``.
    """

    newest: str
    began: str

    def of(self, key: Key, number: int) -> str:
        """The statement for the begin of one transaction."""
        keys = {f"key{place}": value for place, value in enumerate(key, 1)}
        return self.began.format(**keys, number=number)


@dataclass(frozen=True)
class Seen:
    """The newest transactions that a session sees.

    Attributes:
        numbers: The number of the newest one, by series.
        newest_ns: When the newest of all began, in ns since the epoch; None if there is none.
    """

    numbers: Mapping[Key, int]
    newest_ns: int | None

    @classmethod
    def of(cls, rows: Iterable[Sequence[Any]]) -> Seen:
        """From the rows of :attr:`Freshness.newest`.

        Raises:
            ValueError: If a row has no such values.
        """
        numbers: dict[Key, int] = {}
        newest: int | None = None
        for *key, number, began in rows:
            numbers[tuple(map(int, key))] = int(number)
            newest = max(time_ns(began), newest or 0)
        return cls(numbers, newest)

    def lacks(self, committed: Seen) -> list[tuple[Key, int]]:
        """The first transaction of each series that is missing here, of those ``committed``."""
        return [
            (key, self.numbers.get(key, number - 1) + 1)
            for key, number in committed.numbers.items()
            if self.numbers.get(key, number - 1) < number
        ]


def freshness_ms(start_ns: int, missing_began_ns: Iterable[int]) -> float:
    """Freshness in ms of a query that started at ``start_ns``.

    Args:
        start_ns: Start of the query, in ns since the epoch.
        missing_began_ns: When committed transactions began that it does not see.
    """
    return max(0.0, (start_ns - min(missing_began_ns, default=start_ns)) / 1e6)


def time_ns(value: Any) -> int:
    """A stored time (UTC), in ns since the epoch; engines return times as such or as text.

    Raises:
        ValueError: If it is none.
    """
    if isinstance(value, bytes):
        value = value.decode()
    found = value if isinstance(value, dt.datetime) else dt.datetime.fromisoformat(str(value))
    passed = found.replace(tzinfo=None) - _EPOCH
    return (passed.days * 86_400 + passed.seconds) * 10**9 + passed.microseconds * 1_000
