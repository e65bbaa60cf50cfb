"""Columns and keys of the current database, with histograms of the tables that are read most."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace

from dyno.contracts.advice import ColumnFacts
from dyno.contracts.inspection import Inspection
from dyno.contracts.partitioning import ColumnKind, Stored
from dyno.targets.sqlserver.connection import Session, literal, quoted
from dyno.targets.sqlserver.histogram import Step, bounds, common, distinct
from dyno.targets.sqlserver.inside.views import Views

Table = tuple[str, str]
"""Schema and table."""

_MOST = 20_000
_SHARE = 0.1
"""Share of the accesses from which the histograms of a table are read."""
COLUMNS = f"""SELECT TOP ({_MOST}) s.name, t.name, c.name, y.name, c.max_length, c.precision,
c.scale, c.is_nullable
FROM sys.columns AS c JOIN sys.tables AS t ON t.object_id = c.object_id
JOIN sys.schemas AS s ON s.schema_id = t.schema_id
JOIN sys.types AS y ON y.user_type_id = c.user_type_id
WHERE t.is_ms_shipped = 0 ORDER BY s.name, t.name, c.column_id"""  # noqa: S608  (fixed text)
KEYS = f"""SELECT TOP ({_MOST}) s.name, t.name, i.name, c.name, i.is_primary_key,
CASE WHEN i.is_primary_key = 1 OR i.is_unique_constraint = 1 THEN 1 ELSE 0 END,
CASE i.type WHEN 1 THEN 1 ELSE 0 END,
CASE WHEN i.has_filter = 1 OR x.is_descending_key = 1 OR EXISTS (SELECT 1
FROM sys.index_columns AS y WHERE y.object_id = i.object_id AND y.index_id = i.index_id
AND y.is_included_column = 1) THEN 1 ELSE 0 END
FROM sys.indexes AS i JOIN sys.tables AS t ON t.object_id = i.object_id
JOIN sys.schemas AS s ON s.schema_id = t.schema_id
JOIN sys.index_columns AS x ON x.object_id = i.object_id AND x.index_id = i.index_id
JOIN sys.columns AS c ON c.object_id = x.object_id AND c.column_id = x.column_id
WHERE i.is_unique = 1 AND x.key_ordinal > 0 AND t.is_ms_shipped = 0
ORDER BY s.name, t.name, i.is_primary_key DESC, i.name, x.key_ordinal"""  # noqa: S608
REFERRING = """SELECT s.name, t.name, q.name, p.name, f.name FROM sys.foreign_keys AS f
JOIN sys.tables AS t ON t.object_id = f.referenced_object_id
JOIN sys.schemas AS s ON s.schema_id = t.schema_id
JOIN sys.tables AS p ON p.object_id = f.parent_object_id
JOIN sys.schemas AS q ON q.schema_id = p.schema_id ORDER BY 1, 2, 3, 4, 5"""
HISTOGRAM_VIEW = "sys.dm_db_stats_histogram"
# Style 121 is one of times, and an error for bytes, which are no text.
HISTOGRAM = f"""SELECT x.stats_id, c.name,
CASE WHEN k.base IN (N'date', N'time', N'datetime', N'datetime2', N'smalldatetime',
N'datetimeoffset') THEN CONVERT(nvarchar(100), h.range_high_key, 121)
WHEN k.base IN (N'binary', N'varbinary', N'timestamp') THEN N''
ELSE CONVERT(nvarchar(100), h.range_high_key) END,
h.range_rows, h.equal_rows, h.distinct_range_rows
FROM sys.stats AS x JOIN sys.stats_columns AS y ON y.object_id = x.object_id
AND y.stats_id = x.stats_id AND y.stats_column_id = 1
JOIN sys.columns AS c ON c.object_id = y.object_id AND c.column_id = y.column_id
CROSS APPLY {HISTOGRAM_VIEW}(x.object_id, x.stats_id) AS h
CROSS APPLY (SELECT CAST(SQL_VARIANT_PROPERTY(h.range_high_key, 'BaseType') AS nvarchar(128))
AS base) AS k
WHERE x.object_id = OBJECT_ID({{table}}) AND x.has_filter = 0
ORDER BY x.stats_id, h.step_number"""  # noqa: S608  (a literal)
_KINDS: dict[str, ColumnKind] = {
    "date": "date",
    "datetime": "timestamp",
    "datetime2": "timestamp",
    "smalldatetime": "timestamp",
    "tinyint": "integer",
    "smallint": "integer",
    "int": "integer",
    "bigint": "integer",
    "decimal": "decimal",
    "numeric": "decimal",
    "money": "decimal",
    "char": "text",
    "varchar": "text",
    "nchar": "text",
    "nvarchar": "text",
}
_CUT = ("date", "timestamp", "integer", "decimal")
"""Kinds whose values are kept: those of texts may be anybody's secrets, and give no bounds."""


def declared(kind: str, length: int, precision: int, scale: int) -> str:
    """A type as it is written, from a row of ``sys.columns``."""
    if kind in ("nchar", "nvarchar"):
        return f"{kind}({'max' if length < 0 else length // 2})"
    if kind in ("char", "varchar", "binary", "varbinary"):
        return f"{kind}({'max' if length < 0 else length})"
    if kind in ("decimal", "numeric"):
        return f"{kind}({precision},{scale})"
    if kind in ("datetime2", "time", "datetimeoffset"):
        return f"{kind}({scale})"
    return kind


@dataclass
class Keys:
    """Unique keys of a table.

    Attributes:
        columns: Their columns by name, the primary key first.
        stored: How each is stored.
        primary: The name of the primary key; empty without.
        referring: Names of the foreign keys that refer to the table.
    """

    columns: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    stored: dict[str, Stored] = field(default_factory=dict[str, Stored])
    primary: str = ""
    referring: tuple[str, ...] = ()


def keys(session: Session) -> defaultdict[Table, Keys]:
    """Unique keys by table.

    Raises:
        DynoError: If the server does not respond.
    """
    found: defaultdict[Table, Keys] = defaultdict(Keys)
    for place, table, name, column, primary, *flags in session.execute(KEYS).rows:
        own, index = found[str(place), str(table)], str(name)
        own.columns[index] = (*own.columns.get(index, ()), str(column))
        constraint, clustered, special = map(bool, flags)
        special |= own.stored.get(index, Stored()).special
        own.stored[index] = Stored(constraint, clustered, special)
        own.primary = index if primary else own.primary
    for place, table, *names in session.execute(REFERRING).rows:
        found[str(place), str(table)].referring += (".".join(map(str, names)),)
    return found


def most_read(uses: Inspection, database: str) -> set[Table]:
    """Tables of a database with at least a tenth of its accesses."""
    reads: defaultdict[Table, int] = defaultdict(int)
    for one in uses.relations:
        if one.of_table.startswith(f"{database}."):
            place, _, table = one.of_table.removeprefix(f"{database}.").partition(".")
            reads[place, table] += one.logical_reads or 0
    whole = sum(reads.values())
    return {name for name, count in reads.items() if whole and count >= _SHARE * whole}


def read(
    session: Session, views: Views, described: set[Table]
) -> dict[Table, tuple[ColumnFacts, ...]]:
    """Columns by table.

    Args:
        session: A session.
        views: Notes views that cannot be read.
        described: Tables of which histograms are read.

    Raises:
        DynoError: If the server does not respond.
    """
    found: defaultdict[Table, list[ColumnFacts]] = defaultdict(list)
    for place, table, name, kind, length, precision, scale, nullable in session.execute(
        COLUMNS
    ).rows:
        found[str(place), str(table)].append(
            ColumnFacts(
                str(name),
                _KINDS.get(str(kind).lower(), "other"),
                declared(str(kind).lower(), int(length), int(precision), int(scale)),
                bool(nullable),
            )
        )
    return {
        table: tuple(_described(session, views, table, columns))
        if table in described
        else tuple(columns)
        for table, columns in found.items()
    }


def _described(
    session: Session, views: Views, table: Table, columns: list[ColumnFacts]
) -> list[ColumnFacts]:
    name = ".".join(map(quoted, table))
    rows = views.rows(session, HISTOGRAM_VIEW, HISTOGRAM.format(table=literal(name))) or ()
    steps: defaultdict[str, dict[int, list[Step]]] = defaultdict(dict)
    for number, column, high, below, at, different in rows:
        own = steps[str(column)].setdefault(int(number), [])
        if high is not None:  # the first step of a column with NULLs
            own.append(Step(str(high), float(below), float(at), float(different)))
    made: list[ColumnFacts] = []
    for column in columns:
        of_it = list(steps.get(column.name, {}).values())
        if not of_it or not of_it[0]:
            made.append(column)
            continue
        described = replace(column, distinct=distinct(of_it[0]))
        if column.kind in _CUT:
            described = replace(
                described,
                common=common(of_it[0]),
                histogram=bounds(of_it[0]),
                source="the server's histogram",
            )
        made.append(described)
    return made
