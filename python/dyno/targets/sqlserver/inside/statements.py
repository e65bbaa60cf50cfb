"""Statements in the plan cache, by query hash.

Source: Microsoft, "sys.dm_exec_query_stats (Transact-SQL)". The view has a row for each statement
of a cached plan; a plan that leaves the cache takes its counts along. So periods are compared plan
by plan, and added up by query hash: queries that differ only in literals have the same.
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from dyno.contracts.inspection import MOST_PLANS, MOST_ROWS, StatementUse
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.inside.performance import PAGE
from dyno.targets.sqlserver.inside.views import OWN, Views

VIEW = "sys.dm_exec_query_stats"
COUNTS = f"""{OWN}SELECT plan_handle, statement_start_offset, statement_end_offset,
CONVERT(varchar(23), creation_time, 126), query_hash, sql_handle,
execution_count, total_elapsed_time, total_rows, total_logical_reads, total_physical_reads,
total_spills, min_elapsed_time, max_elapsed_time FROM {VIEW}"""  # noqa: S608  (fixed text)
TEXTS_VIEW = "sys.dm_exec_sql_text"
TEXTS = f"""{OWN}SELECT w.place,
SUBSTRING(t.text, w.starts / 2 + 1, (CASE WHEN w.ends = -1 THEN DATALENGTH(t.text) ELSE w.ends END
- w.starts) / 2 + 1), CHARINDEX(N'dyno observer', t.text)
FROM (VALUES {{values}}) AS w (place, handle, starts, ends)
CROSS APPLY {TEXTS_VIEW}(w.handle) AS t"""  # noqa: S608  (handles as hexadecimal digits)
ATTRIBUTES_VIEW = "sys.dm_exec_plan_attributes"
# A text has a database only if it is of a module.
DATABASES = f"""{OWN}SELECT w.handle, DB_NAME(CAST(a.value AS int))
FROM (VALUES {{values}}) AS w (handle)
CROSS APPLY {ATTRIBUTES_VIEW}(w.handle) AS a WHERE a.attribute = N'dbid'"""  # noqa: S608
PLANS_VIEW = "sys.dm_exec_text_query_plan"
PLANS = f"""{OWN}SELECT w.place, p.query_plan
FROM (VALUES {{values}}) AS w (place, handle, starts, ends)
CROSS APPLY {PLANS_VIEW}(w.handle, w.starts, w.ends) AS p"""  # noqa: S608

_LONGEST = 10_000
_ASKED = 100
"""Texts of one statement."""
_PLANS_ASKED = 20
"""Plans of a query whose databases are asked for: one with literals may have thousands."""
_US_PER_MS = 1e3
_OBSERVING = re.compile(r"\bsys\s*\.\s*dm_", re.IGNORECASE)


_SPILLS = (14, 0, 3015)
"""2017 CU3, the first 2017 that counts spills."""


class Plan(NamedTuple):
    """A statement of a cached plan. A recompiled one is another."""

    handle: bytes
    starts: int
    ends: int
    created: str


class Counted(NamedTuple):
    """Its counters: times in microseconds, reads and spills in pages."""

    query: bytes
    text: bytes
    calls: int
    time: int
    rows: int
    logical: int
    physical: int
    spilled: int
    shortest: int
    longest: int


Snapshot = Mapping[Plan, Counted]


@dataclass
class _Query:
    """The plans of a query hash in a period, the one with most time first."""

    plans: list[tuple[Plan, Counted]] = field(default_factory=list[tuple[Plan, Counted]])

    def sum(self, of: Callable[[Counted], int]) -> int:
        return sum(of(counted) for _, counted in self.plans)

    def longest(self, count: int) -> list[tuple[Plan, Counted]]:
        return heapq.nlargest(count, self.plans, key=lambda one: one[1].time)

    @property
    def first(self) -> tuple[Plan, Counted]:
        return max(self.plans, key=lambda one: one[1].time)


def read(session: Session, views: Views) -> Snapshot:
    """The counters of all plans; empty if they cannot be read.

    Raises:
        DynoError: If the server does not respond.
    """
    query = COUNTS if _spills(session) else COUNTS.replace("total_spills", "0")
    rows = views.rows(session, VIEW, query) or ()
    return {
        Plan(bytes(row[0]), int(row[1]), int(row[2]), str(row[3])): Counted(
            bytes(row[4] or b""), bytes(row[5] or b""), *(int(count or 0) for count in row[6:])
        )
        for row in rows
    }


def _spills(session: Session) -> bool:
    """Whether the server counts what statements spill."""
    return session.version.is_cloud or session.version.number >= _SPILLS


def grown(before: Snapshot, after: Snapshot) -> dict[Plan, Counted]:
    """What each plan did in between. A plan whose counts fell began anew."""
    found: dict[Plan, Counted] = {}
    for plan, now in after.items():
        then = before.get(plan)
        if then is None or then.calls > now.calls or then.time > now.time:
            own = now
        else:
            own = now._replace(
                calls=now.calls - then.calls,
                time=now.time - then.time,
                rows=max(0, now.rows - then.rows),
                logical=max(0, now.logical - then.logical),
                physical=max(0, now.physical - then.physical),
                spilled=max(0, now.spilled - then.spilled),
            )
        if own.calls:
            found[plan] = own
    return found


def between(
    session: Session, views: Views, before: Snapshot, after: Snapshot
) -> Sequence[StatementUse]:
    """What ended in between, with most time first; texts and plans are read from the server.

    Raises:
        DynoError: If the server does not respond.
    """
    queries: defaultdict[bytes, _Query] = defaultdict(_Query)
    for plan, own in grown(before, after).items():
        hashed = own.query if any(own.query) else plan.handle + str(plan.starts).encode()
        queries[hashed].plans.append((plan, own))
    top = _by_database(session, views, _top(list(queries.items())))
    texts = _texts(session, views, [query.first for _, query in top])
    shown = [
        (name, query, texts[place])
        for place, (name, query) in enumerate(top)
        if place in texts and not texts[place].own
    ]
    plans = _plans(session, views, [query.first for _, query, _ in shown[:MOST_PLANS]])
    found = [
        _use(name, query, text, plans.get(place)) for place, (name, query, text) in enumerate(shown)
    ]
    return found if _spills(session) else [replace(one, temp_bytes=None) for one in found]


def _top(queries: list[tuple[bytes, _Query]]) -> list[tuple[bytes, _Query]]:
    """Those with most time, reads or spills, by time."""
    chosen: dict[bytes, _Query] = {}
    most: tuple[Callable[[Counted], int], ...] = (
        lambda own: own.time, lambda own: own.logical, lambda own: own.spilled,
    )  # fmt: skip
    for of in most:
        ranked = sorted(queries, key=lambda one: -one[1].sum(of))
        chosen |= dict(ranked[: MOST_ROWS // len(most)])
    return sorted(chosen.items(), key=lambda one: -one[1].sum(lambda own: own.time))


class _Name(NamedTuple):
    """A query in a database; its name is empty if it is unknown."""

    database: str
    hashed: bytes


def _by_database(
    session: Session, views: Views, queries: Sequence[tuple[bytes, _Query]]
) -> list[tuple[_Name, _Query]]:
    """The queries of each database, by time: the same one has the same hash in all of them."""
    asked = {hashed: query.longest(_PLANS_ASKED) for hashed, query in queries}
    handles = dict.fromkeys(plan.handle for plans in asked.values() for plan, _ in plans)
    databases = _databases(session, views, list(handles))
    found: defaultdict[_Name, _Query] = defaultdict(_Query)
    for hashed, query in queries:
        # Plans that have left the cache meanwhile, or take little time, count to the longest one.
        usual = databases.get(query.first[0].handle, "")
        for plan, own in query.plans:
            found[_Name(databases.get(plan.handle, usual), hashed)].plans.append((plan, own))
    return sorted(found.items(), key=lambda one: -one[1].sum(lambda own: own.time))


def _databases(session: Session, views: Views, handles: Sequence[bytes]) -> dict[bytes, str]:
    found: dict[bytes, str] = {}
    for at in range(0, len(handles), _ASKED):
        values = ", ".join(f"(0x{handle.hex()})" for handle in handles[at : at + _ASKED])
        sql = DATABASES.format(values=values)
        for handle, database in views.rows(session, ATTRIBUTES_VIEW, sql) or ():
            found[bytes(handle)] = str(database or "")
    return found


class _Text(NamedTuple):
    text: str
    own: bool


def _values(chosen: Iterable[tuple[int, bytes, Plan]]) -> str:
    return ", ".join(
        f"({place}, 0x{handle.hex()}, {plan.starts}, {plan.ends})" for place, handle, plan in chosen
    )


def _texts(
    session: Session, views: Views, plans: Sequence[tuple[Plan, Counted]]
) -> dict[int, _Text]:
    found: dict[int, _Text] = {}
    asked = [(place, own.text, plan) for place, (plan, own) in enumerate(plans) if own.text]
    for at in range(0, len(asked), _ASKED):
        sql = TEXTS.format(values=_values(asked[at : at + _ASKED]))
        for place, text, own in views.rows(session, TEXTS_VIEW, sql) or ():
            whole = normalised(str(text or ""))[:_LONGEST]
            observing = bool(own) or _OBSERVING.search(whole) is not None
            found[int(place)] = _Text(whole, observing)
    return found


def _plans(session: Session, views: Views, plans: Sequence[tuple[Plan, Counted]]) -> dict[int, str]:
    from dyno.targets.sqlserver.plans import text_of

    asked = [(place, plan.handle, plan) for place, (plan, _) in enumerate(plans)]
    if not asked:
        return {}
    sql = PLANS.format(values=_values(asked))
    rows: Sequence[Sequence[Any]] = views.rows(session, PLANS_VIEW, sql) or ()
    return {int(place): text for place, document in rows if (text := text_of(document))}


def _use(name: _Name, query: _Query, text: _Text, plan: str | None) -> StatementUse:
    return StatementUse(
        statement=f"{name.database}:{name.hashed.hex()}",
        database=name.database,
        text=text.text,
        calls=query.sum(lambda own: own.calls),
        total_ms=query.sum(lambda own: own.time) / _US_PER_MS,
        min_ms=min(own.shortest for _, own in query.plans) / _US_PER_MS,
        max_ms=max(own.longest for _, own in query.plans) / _US_PER_MS,
        rows=query.sum(lambda own: own.rows),
        logical_reads=query.sum(lambda own: own.logical),
        physical_reads=query.sum(lambda own: own.physical),
        temp_bytes=PAGE * query.sum(lambda own: own.spilled),
        plan=plan,
    )


_TOKENS = re.compile(
    r"""
    (?P<keep>"[^"]*" | \[[^\]]*\] | --[^\n]* | /\*.*?\*/)
    | (?P<text>N?'(?:[^']|'')*(?:'|$))
    | (?P<variable>@@?[\w@$\#]+)
    | (?P<word>[A-Za-z_\#][\w@$\#]*)
    | (?P<number>0x[0-9A-Fa-f]* | (?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    """,
    re.VERBOSE | re.DOTALL,
)
_PARAMETERS = re.compile(r"^\s*\(\s*@\w+\s[^()]*(?:\([^()]*\)[^()]*)*\)\s*")


def normalised(text: str) -> str:
    """A statement without comments, with ``?`` for literals and parameters.

    The server keeps texts as they were sent, with their literals; those of parametrised statements
    begin with the declarations of the parameters.
    """

    def replaced(found: re.Match[str]) -> str:
        if found["keep"] is not None:
            return " " if found["keep"].startswith(("--", "/*")) else found["keep"]
        if found["variable"] is not None:
            return found["variable"] if found["variable"].startswith("@@") else "?"
        return found["word"] if found["word"] is not None else "?"

    return _TOKENS.sub(replaced, _PARAMETERS.sub("", text)).strip()
