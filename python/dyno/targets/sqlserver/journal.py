"""The journal of a load in SQL Server (see ``targets/journal.py``)."""

from __future__ import annotations

from dyno.contracts.target import LoadPlan, Unfinished
from dyno.targets import journal, mark
from dyno.targets.sqlserver import database, ddl
from dyno.targets.sqlserver.connection import Session


def read(session: Session, workload: str) -> tuple[Unfinished, list[journal.Done]] | None:
    """Reads the journal; None if there is none of Dyno's, or the data is complete."""
    if not database.use(session, mark.schema_of(workload)):
        return None
    present = ddl.relations(session)
    text = present.get(journal.TABLE)
    state = mark.read(present, workload)
    if not journal.is_journal(text, workload) or state is None or state.complete:
        return None
    rows = session.execute(
        "SELECT part_table, part, parts, part_rows "  # noqa: S608  (quoted)
        f"FROM {ddl.qualified(journal.TABLE)} ORDER BY 1, 2"
    ).rows
    return journal.unfinished(text, workload, rows)


def start(session: Session, plan: LoadPlan) -> None:
    """Creates an empty journal for a load into empty tables.

    Its key prevents loading a part twice, in case the server is still completing an earlier load.

    Raises:
        UsageError: If Dyno did not create a table of that name.
    """
    database.use(session, mark.schema_of(plan.workload))
    present = ddl.relations(session)
    journal.require_own(present, plan.workload)
    columns = ", ".join(f"{name} {kind} NOT NULL" for name, kind in journal.COLUMNS)
    with ddl.transaction(session):
        ddl.drop_journal(session, plan.workload, present)
        session.execute(
            f"CREATE TABLE {ddl.qualified(journal.TABLE)} "
            f"({columns}, PRIMARY KEY (part_table, part))"
        )
        session.execute(ddl.marking(journal.TABLE, journal.comment(plan)))
