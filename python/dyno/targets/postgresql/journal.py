"""The journal of a load in PostgreSQL (see ``targets/journal.py``)."""

from __future__ import annotations

from psycopg import sql

from dyno.contracts.target import LoadPlan, Unfinished
from dyno.targets import journal, mark
from dyno.targets.postgresql import ddl
from dyno.targets.postgresql.connection import PostgresConnection


def read(
    session: PostgresConnection, workload: str
) -> tuple[Unfinished, list[journal.Done]] | None:
    """Reads the journal; None if Dyno has none here."""
    place = mark.schema_of(workload)
    text = ddl.relations(session, place).get(journal.TABLE)
    if not journal.is_journal(text, workload):
        return None
    query = sql.SQL("SELECT part_table, part, parts, part_rows FROM {} ORDER BY 1, 2")
    return journal.unfinished(text, workload, ddl.run(session, [query.format(_table(place))]))


def start(session: PostgresConnection, plan: LoadPlan) -> None:
    """Creates an empty journal for a load into empty tables.

    Its key prevents loading a part twice, in case the server is still completing an earlier load.

    Raises:
        UsageError: If Dyno did not create a table of that name.
    """
    place = mark.schema_of(plan.workload)
    present = ddl.relations(session, place)
    journal.require_own(present, plan.workload)
    columns = ", ".join(f"{name} {kind} NOT NULL" for name, kind in journal.COLUMNS)
    create = f"CREATE TABLE {{}} ({columns}, PRIMARY KEY (part_table, part))"
    ddl.run(
        session,
        [
            *ddl.drop_journal(place, plan.workload, present),
            sql.SQL(create).format(_table(place)),  # pyright: ignore[reportArgumentType]
            _comment(plan),
        ],
    )


def _comment(plan: LoadPlan) -> sql.Composed:
    table = _table(mark.schema_of(plan.workload))
    return sql.SQL("COMMENT ON TABLE {} IS {}").format(table, sql.Literal(journal.comment(plan)))


def _table(place: str) -> sql.Identifier:
    return sql.Identifier(place, journal.TABLE)
