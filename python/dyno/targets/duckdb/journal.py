"""The journal of a load in DuckDB (see ``targets/journal.py``)."""

from __future__ import annotations

from dyno.contracts.target import LoadPlan, Unfinished
from dyno.targets import journal, mark
from dyno.targets.duckdb import ddl
from dyno.targets.duckdb.connection import DuckdbConnection


def read(session: DuckdbConnection, workload: str) -> tuple[Unfinished, list[journal.Done]] | None:
    """Reads the journal; None if Dyno has none here."""
    place = mark.schema_of(workload)
    text = ddl.relations(session, place).get(journal.TABLE)
    if not journal.is_journal(text, workload):
        return None
    rows = session.execute(
        f"SELECT part_table, part, parts, part_rows FROM {_table(place)} ORDER BY 1, 2"  # noqa: S608
    ).rows
    return journal.unfinished(text, workload, rows)


def start(session: DuckdbConnection, plan: LoadPlan) -> None:
    """Creates an empty journal for a load into empty tables.

    Raises:
        UsageError: If Dyno did not create a table of that name.
    """
    place = mark.schema_of(plan.workload)
    present = ddl.relations(session, place)
    journal.require_own(present, plan.workload)
    columns = ", ".join(f"{name} {kind} NOT NULL" for name, kind in journal.COLUMNS)
    ddl.run(
        session,
        [
            *ddl.drop_journal(place, plan.workload, present),
            f"CREATE TABLE {_table(place)} ({columns})",
            _comment(plan),
        ],
    )


def ready(session: DuckdbConnection, plan: LoadPlan) -> list[journal.Done]:
    """The loaded parts, from a journal that is ready for more."""
    found = read(session, plan.workload) if plan.resume else None
    return journal.ready(plan, found, lambda: start(session, plan))


def record(session: DuckdbConnection, workload: str, done: journal.Done) -> None:
    """Adds the row of a part, in the current transaction."""
    values = f"{ddl.literal(done.table)}, {done.part}, {done.parts}, {done.rows}"
    session.execute(
        f"INSERT INTO {_table(mark.schema_of(workload))} VALUES ({values})"  # noqa: S608
    )


def _comment(plan: LoadPlan) -> str:
    table = _table(mark.schema_of(plan.workload))
    return f"COMMENT ON TABLE {table} IS {ddl.literal(journal.comment(plan))}"


def _table(place: str) -> str:
    return ddl.quoted(place, journal.TABLE)
