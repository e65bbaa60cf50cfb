"""SQLite in the terms of advice."""

from __future__ import annotations

from dyno.contracts.advice import Dialect, Knob
from dyno.targets.wording import among, size

# In WAL mode, NORMAL loses the last commits at a power failure, and nothing else.
_DURABLE = ("full", "extra")

DIALECT = Dialect(
    grammar="sqlite",
    columnar="SQLite stores tables in rows only",
    partitioning="SQLite has no table partitions; the layout `clustered` keeps a month of rows "
    "together",
    knobs={
        "durable_commit": (
            Knob(
                "driver.synchronous", among(*_DURABLE), lambda value: "full" if value else "normal"
            ),
            Knob("synchronous", among(*_DURABLE), lambda value: "full" if value else "normal"),
        ),
        "flushed_log": (
            Knob("driver.synchronous", lambda text: text != "off", lambda _: "full"),
            Knob("synchronous", lambda text: text != "off", lambda _: "full"),
        ),
        "page": (Knob("page_size", size),),
    },
    assign=lambda knob, value: (f"PRAGMA {knob.name.rpartition('.')[2]} = {value};",),
)
