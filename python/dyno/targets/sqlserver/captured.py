"""The counted statements of SQL Server (``contracts/captured.py``). It has no log of statements."""

from __future__ import annotations

from dyno.contracts.captured import Captured

CAPTURED = Captured(
    logs=(),
    counters="dm_exec_query_stats",
    grammar="tsql",
    numbered=False,
    quote='"',
    as_text="nvarchar(4000)",
    castable=None,
    sample="select top ({most}) {shown} from {table} tablesample ({percent} percent) where {where}",
    system=frozenset({"sys", "INFORMATION_SCHEMA", "information_schema"}),
    every="select top ({most}) {shown} from {table} where {where}",
    database="SELECT /* dyno observer */ DB_NAME()",
)
