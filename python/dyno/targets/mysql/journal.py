"""The journal of a load in MariaDB or MySQL (see ``targets/journal.py``).

DDL commits implicitly there, so order replaces atomicity: a journal is created after its tables and
dropped before them. It is ignored if the data is marked as complete.
"""

from __future__ import annotations

from dyno.contracts.target import LoadPlan, Unfinished
from dyno.targets import journal, mark
from dyno.targets.mysql import ddl
from dyno.targets.mysql.connection import MysqlConnection, literal, quoted


def read(session: MysqlConnection, workload: str) -> tuple[Unfinished, list[journal.Done]] | None:
    """Reads the journal; None if there is none of Dyno's, or the data is complete."""
    place = mark.schema_of(workload)
    present = ddl.relations(session, place)
    text = present.get(journal.TABLE)
    state = mark.read(present, workload)
    if not journal.is_journal(text, workload) or state is None or state.complete:
        return None
    rows = session.execute(
        f"SELECT part_table, part, parts, part_rows FROM {_table(place)} ORDER BY 1, 2"  # noqa: S608
    ).rows
    return journal.unfinished(text, workload, rows)


def start(session: MysqlConnection, plan: LoadPlan) -> None:
    """Creates an empty journal for a load into empty tables.

    Its key prevents loading a part twice, in case the server is still completing an earlier load.

    Raises:
        UsageError: If Dyno did not create a table of that name.
    """
    place = mark.schema_of(plan.workload)
    present = ddl.relations(session, place)
    journal.require_own(present, plan.workload)
    ddl.drop_journal(session, place, plan.workload, present)
    columns = ", ".join(f"{name} {kind} NOT NULL" for name, kind in journal.COLUMNS)
    session.execute(
        f"CREATE TABLE {_table(place)} ({columns}, PRIMARY KEY (part_table, part)) ENGINE=InnoDB "
        f"DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin "
        f"COMMENT={literal(journal.comment(plan))}"
    )


def _table(place: str) -> str:
    return f"{quoted(place)}.{quoted(journal.TABLE)}"
