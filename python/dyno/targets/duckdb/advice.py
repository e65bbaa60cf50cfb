"""DuckDB in the terms of advice."""

from __future__ import annotations

from dyno.contracts.advice import Dialect, Knob
from dyno.targets.wording import mib, size

DIALECT = Dialect(
    grammar="duckdb",
    partitioning="DuckDB has no table partitions; it skips row groups by their least and greatest "
    "values, which the layout `clustered` uses",
    columnar="DuckDB stores every table in columns",
    knobs={
        "cache": (Knob("memory_limit", size, lambda value: f"'{mib(value)}'"),),
        "temp_limit": (Knob("max_temp_directory_size", size, lambda value: f"'{mib(value)}'"),),
    },
    assign=lambda knob, value: (f"SET {knob.name} = {value};",),
)
