"""Statements as ``performance_schema`` counts them, by digest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dyno.contracts.inspection import MOST_ROWS, StatementUse
from dyno.targets.mysql.connection import MysqlConnection

_LONGEST = 10_000
_PS_PER_MS = 1e9

OBSERVER = "/* dyno observer */ "
"""Begins each statement of Dyno's own observation, for those who read a log of the server."""
ALIAS = "dyno_observer"
"""An alias in those that read nothing of the server's own: a digest has no comments."""
# Statements that only read what the server counts, or plan others, as Dyno does.
_OBSERVING = re.compile(
    rf"performance_schema|information_schema|\b{ALIAS}\b|^SHOW\b|^EXPLAIN\b", re.IGNORECASE
)
_PREPARED = re.compile(r"EXECUTE (?=[A-Z(])")
"""What MySQL puts before the text of a statement that was prepared by the protocol. The name in an
``EXECUTE`` of SQL is quoted."""
_REST = "other statements: performance_schema_digests_size is too small"

_QUERY = (
    "SELECT schema_name, digest, "  # noqa: S608  (fixed names)
    f"left(digest_text, {_LONGEST}), count_star, sum_timer_wait, sum_rows_sent + "
    "sum_rows_affected, min_timer_wait, max_timer_wait "
    "FROM performance_schema.events_statements_summary_by_digest WHERE count_star > 0"
)


class Counted(NamedTuple):
    """The counters of a statement; times in picoseconds."""

    text: str
    calls: int
    total: int
    rows: int
    shortest: int
    longest: int


Snapshot = Mapping[tuple[str, str], Counted]
"""By schema and digest."""


def read(session: MysqlConnection) -> Snapshot:
    """The counters of all statements.

    Raises:
        DynoError: If the user may not read them, or the server does not respond.
    """
    return {
        (str(row[0] or ""), str(row[1] or "")): Counted(str(row[2] or _REST), *map(int, row[3:]))
        for row in session.execute(_QUERY).rows
    }


def between(before: Snapshot, after: Snapshot) -> Sequence[StatementUse]:
    """What ended in between, with most time first, in the server's texts (see :func:`plain`).

    A statement whose counts fell began anew.
    """
    found: list[StatementUse] = []
    for (place, digest), now in after.items():
        then = before.get((place, digest))
        if then is None or then.calls > now.calls or then.total > now.total:
            then = Counted("", 0, 0, 0, 0, 0)
        calls = now.calls - then.calls
        if calls and not _OBSERVING.search(now.text):
            use = _use(f"{place}:{digest}", then, now, calls)
            found.append(replace(use, database=place))
    found.sort(key=lambda use: use.total_ms, reverse=True)
    return found[:MOST_ROWS]


def is_prepared(use: StatementUse) -> bool:
    """Whether MySQL counted a prepared statement, in the text of :func:`between`."""
    return _PREPARED.match(use.text) is not None


def plain(uses: Sequence[StatementUse]) -> Sequence[StatementUse]:
    """The statements without MySQL's mark of prepared ones."""
    return [replace(use, text=_PREPARED.sub("", use.text, count=1)) for use in uses]


def _use(name: str, then: Counted, now: Counted, calls: int) -> StatementUse:
    times: dict[str, Any] = {}
    if now.shortest <= now.longest:
        times = {"min_ms": now.shortest / _PS_PER_MS, "max_ms": now.longest / _PS_PER_MS}
    return StatementUse(
        statement=name,
        text=now.text,
        calls=calls,
        total_ms=(now.total - then.total) / _PS_PER_MS,
        rows=now.rows - then.rows,
        **times,
    )
