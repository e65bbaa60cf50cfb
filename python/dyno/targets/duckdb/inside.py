"""Probe ``database``: what DuckDB holds in memory and has spilled, beside running queries.

DuckDB counts no logical or physical reads over time, no waits and no statements. A reading has a
session of its own and ends it, because an open one would keep the file open when the target closes
it for a cold start. It takes about a millisecond; the CPU time of a sort that spills was the same
with and without readings once a second (2.39 and 2.37 s, medians of 8, DuckDB 2.0).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dyno.bundle.inside import SOURCE, Inside
from dyno.contracts.probe import Sample

_NO_COUNT = "DuckDB counts nothing by statement or table"

LACKS = {
    "sessions by wait": "DuckDB does not report what its threads wait for",
    "statements": _NO_COUNT,
    "tables": _NO_COUNT,
}

NOTES = (
    "counters are memory and temporary files only; what a query read and spilled is in the metrics "
    "by query",
)

_QUERY = (
    "SELECT (SELECT sum(memory_usage_bytes) FROM duckdb_memory()), "
    "(SELECT coalesce(sum(size), 0) FROM duckdb_temporary_files())"
)


class DuckdbProbe:
    """Implements the protocol."""

    name = SOURCE
    period_s = 1.0
    deadline_s = 5.0

    def __init__(self, target: str, ask: Callable[[str], Sequence[Sequence[object]]]) -> None:
        """Opens nothing.

        Args:
            target: The subject of its samples.
            ask: Returns the rows of a statement in a session of its own.
        """
        self._target, self._ask = target, ask

    def read(self, now_ns: int) -> Sequence[Sample]:  # noqa: ARG002  (levels need no clock)
        """Bytes in memory and in temporary files now.

        Raises:
            DynoError: If the file is not open.
        """
        ((memory, temporary),) = self._ask(_QUERY)
        values = {Inside.memory: memory, Inside.temp_used: temporary}
        return [
            Sample(SOURCE, self._target, one, float(str(value)), one.unit)
            for one, value in values.items()
        ]

    def close(self) -> None:
        """Nothing is open between readings."""
