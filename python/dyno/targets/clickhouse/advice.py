"""ClickHouse in the terms of advice."""

from __future__ import annotations

from dyno.contracts.advice import Dialect, Knob
from dyno.targets.wording import size, whole

DIALECT = Dialect(
    grammar="clickhouse",
    columnar="ClickHouse stores tables in columns, unless a layout has them in rows",
    partitioning="Dyno reads no tables and columns of a live ClickHouse, which partitions a table "
    "by an expression when it is created; `dyno load --layout partitioned-8` does so",
    knobs={"cache": (Knob("max_server_memory_usage", size, whole, restart=True),)},
    assign=lambda knob, value: (
        f"<{knob.name}>{value}</{knob.name}>    in the server's configuration; then restart it",
    ),
)
