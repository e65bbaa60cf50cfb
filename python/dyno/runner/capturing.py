"""What a server ran, for ``dyno capture``: read from its counters, or from its log."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from dyno import targets
from dyno.bundle import replayed
from dyno.contracts.advice import Advised, TableFacts
from dyno.contracts.captured import Captured as Server
from dyno.contracts.captured import Named, captured
from dyno.contracts.inspection import Inspected, StatementUse
from dyno.contracts.target import Target, TargetUrl
from dyno.errors import TargetError, UsageError
from dyno.runtime.engine_calls import run_engine
from dyno.runtime.progress import Silent
from dyno.stages.drive.replay import without_statements
from dyno.workloads.own.draft.draft import Ran, Together
from dyno.workloads.own.draft.parameters import schema_name, table_name, tables_in

_OWN = ("dyno observer", "dyno_observer")
"""One of them is in each text of Dyno's own sessions; digests keep names, not comments."""
_REASONS = replayed.REASONS | {"ddl": "that change tables"}
"""The options of a replay are not those of a capture."""


def sources() -> dict[str, str]:
    """Names of counters, and of the targets that have them."""
    found = ((name, captured(name)) for name in targets.names())
    return {server.counters: name for name, server in found if server is not None}


def database_of(target: Target, server: Server) -> str:
    """The current database of a target; empty if its URL names none.

    Raises:
        DynoError: If the server does not respond.
    """
    with closing(target.connect()) as session:
        return str(session.execute(server.database).rows[0][0] or "")


def of_counters(
    target: Target, source: str, seconds: float | None, database: str
) -> tuple[list[Together], list[str]]:
    """Statements as the server counts them, and notes.

    Args:
        target: The target.
        source: The name of its counters.
        seconds: How long to watch them; None: since they were last reset.
        database: Only statements of this database; empty for all.

    Raises:
        TargetError: If it counts none, with the remedy.
    """
    if seconds is None:
        found = target.catalog().uses if isinstance(target, Advised) else None
    elif isinstance(target, Inspected):
        inspector = target.inspector()
        found = None
        if inspector is not None:
            try:
                inspector.begin()
                threading.Event().wait(seconds)
                found = inspector.end()
            finally:
                inspector.close()
    else:
        found = None
    statements: Sequence[StatementUse] = () if found is None else found.statements
    notes = [] if found is None else list(found.notes)
    if not statements:
        why = "; ".join(notes) or "nothing ran"
        raise TargetError(f"{source} shows no statements: {why}.", kind="database")
    ran = [
        Together(one.calls - one.nested, (Ran(one.text),))
        for one in statements
        if one.calls > one.nested
        and not any(name in one.text for name in _OWN)
        # A session without a database names the schemas of its tables.
        and (not database or one.database in ("", database))
    ]
    if not ran:
        where = f" of the database {database}" if database else ""
        raise TargetError(f"{source} shows no statements{where}: nothing ran.", kind="database")
    return ran, [one for one in notes if "statement" in one]


def require_log(path: Path, url: TargetUrl, server: Server) -> None:
    """Looks at the beginning of a log, before anything is opened.

    Raises:
        UsageError: If it is not a log, or damaged; or of another product than the target.
    """
    if "/" not in str(path) and not path.suffix and not path.exists():
        known = ", ".join([*sources(), "the path of a log"])
        raise UsageError(f"--from {path}: unknown. Use {known}.")
    # A span of 0 s: reading ends soon after the first statement.
    found = _read("scan_log", path, span_s=0.0)
    if found["format"] not in server.logs:
        raise UsageError(f"{path.name} is a log of another product than {url.redacted}.")
    if not (found["statements"] or found["left_out"]):
        raise UsageError(without_statements(path, found["format"]))


def of_log(path: Path, database: str, *, unknown: bool = False) -> tuple[list[Together], list[str]]:
    """The transactions of a log, and notes on those that are missing.

    Args:
        path: The log.
        database: Only statements of this database; empty for all.
        unknown: Whether statements of sessions whose database the log does not show count as its:
            those of sessions that were connected before the log began.

    Raises:
        UsageError: If it is damaged.
    """
    found = _read("shape_log", path, database=database or None, unknown=unknown)
    together = [
        Together(
            one["count"],
            [
                Ran(
                    each["sql"], True, each["parameters"], each["runs"] / one["count"], each["text"]
                )
                for each in one["statements"]
            ],
            one["explicit"],
        )
        for one in found["transactions"]
    ]
    return together, lost(found, database)


def lost(found: Mapping[str, Any], database: str) -> list[str]:
    """What a draft of a log lacks; a sentence each.

    Args:
        found: The driver's ``Shapes``.
        database: The database whose statements were wanted; empty for all.
    """
    notes: list[str] = []
    for reason, (count, line) in found["left_out"].items():
        why = _REASONS[reason]
        if reason == "database":
            why += f" than {database}; --database NAME takes another one"
        notes.append(f"Left out: {replayed.statements(count, why)}. {_first(line)}")
    count, line = found["unknown"]
    if count and database:
        why = f"{_REASONS['unknown']}; --database {database} leaves them out"
        notes.append(f"Included: {replayed.statements(count, why)}. {_first(line)}")
    for key, why in (
        ("rolled_back", "that were rolled back"),
        ("unshaped", "that are too long, or beyond the number of different ones that Dyno keeps"),
    ):
        count, line = found[key]
        if count:
            many = f"{count:,} transaction{'s'[: count != 1]} {why}"
            notes.append(f"Left out: {many}. {_first(line)}")
    return notes


def _first(line: int) -> str:
    return f"The first is in line {line:,}."


def tables_for(
    target: Advised, ran: Sequence[Together], server: Server, database: str
) -> Mapping[str, TableFacts]:
    """Tables for a draft; see :func:`tables_of`.

    Raises:
        DynoError: If the server does not respond.
    """
    if not isinstance(target, Named):
        return tables_of(target.catalog().tables, server, database)
    texts = {each.text for one in ran for each in one.statements}
    names = sorted({name for text in texts for name in tables_in(text, server)} - {""})
    return tables_of(target.named_tables(names), server, database)


def tables_of(
    tables: Iterable[TableFacts], server: Server, database: str
) -> Mapping[str, TableFacts]:
    """Tables by name without schema, in lower case.

    Of a name that several schemas have, the table of ``database`` counts, if databases are schemas;
    else none. Each of them also has its name with its schema.
    """
    found: dict[str, list[TableFacts]] = {}
    for table in tables:
        found.setdefault(table_name(table).lower(), []).append(table)
    named = {name: several[0] for name, several in found.items() if len(several) == 1}
    for name, several in found.items():
        if len(several) == 1:
            continue
        for table in several:
            named[f"{schema_name(table).lower()}.{name}"] = table
            if server.by_schema and schema_name(table) == database:
                named[name] = table
    return named


def _read(how: str, path: Path, **select: Any) -> dict[str, Any]:
    log = str(path.expanduser().absolute())
    return run_engine(how, {"select": {"log": log, "writes": True, **select}}, Silent())
