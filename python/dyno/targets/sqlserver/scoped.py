"""What overrides the instance's degree of parallelism: a database, or the workload group.

MAXDOP of a database wins over that of the instance, unless it is 0. The group ``default`` limits
both.

Source: Microsoft, "ALTER DATABASE SCOPED CONFIGURATION (Transact-SQL)",
"sys.dm_resource_governor_workload_groups (Transact-SQL)".
"""

from __future__ import annotations

from collections.abc import Sequence

from dyno.contracts.tuning import Change
from dyno.errors import DynoError, TargetError
from dyno.targets.sqlserver.connection import Session, quoted

MAXDOP = "MAXDOP"
EFFECTIVE = "effective_max_dop"
CONFIGURATIONS = (
    "SELECT name, CAST(value AS nvarchar(60)) FROM {place}.sys.database_scoped_configurations"
)
"""Of a database; the value is a sql_variant."""
GROUP = (
    "SELECT effective_max_dop FROM sys.dm_resource_governor_workload_groups WHERE name = N'default'"
)


def query(place: str) -> str:
    """The statement that reads the scoped configurations of a database."""
    return CONFIGURATIONS.format(place=quoted(place))


def verify(session: Session, item: Change, places: Sequence[str]) -> str:
    """Verifies that nothing overrides the instance's degree of parallelism.

    Args:
        session: A session.
        item: The change of the degree of parallelism.
        places: The databases of the job.

    Returns:
        A note if the workload group allows less, or if something cannot be read; else empty.

    Raises:
        TargetError: If a database has another degree, which wins.
    """
    notes = [_of_database(session, item, place) for place in places]
    try:
        rows = session.execute(GROUP).rows
        most = int(rows[0][0] or 0) if rows else 0
    except DynoError as error:
        notes.append(_unknown("the workload group default", error))
    else:
        if 0 < most < int(item.value):
            notes.append(f"{EFFECTIVE} of the workload group default is {most}")
    return "; ".join(filter(None, notes))


def _of_database(session: Session, item: Change, place: str) -> str:
    try:
        rows = session.execute(query(place)).rows
    except DynoError as error:
        return _unknown(place, error)
    own = {str(name): str(value) for name, value in rows}.get(MAXDOP, "0")
    if own in ("0", item.value):
        return ""
    raise TargetError(
        f"{item.word}={item.asked} has no effect in {place}, whose own {MAXDOP} is {own}; run USE "
        f"{quoted(place)}; ALTER DATABASE SCOPED CONFIGURATION SET {MAXDOP} = 0, or omit it.",
        kind="database",
    )


def _unknown(where: str, error: DynoError) -> str:
    """A note; a lost connection is an error.

    Raises:
        DynoError: If the server does not respond.
    """
    if not error.is_refusal:
        raise error
    return f"it is unknown whether {where} overrides it: {str(error).rstrip('.')}"
