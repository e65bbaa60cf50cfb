"""ClickHouse in the terms of advice."""

from __future__ import annotations

from dyno.contracts.advice import Dialect, Knob
from dyno.targets.wording import size, whole

DIALECT = Dialect(
    knobs={"cache": (Knob("max_server_memory_usage", size, whole, restart=True),)},
    assign=lambda knob, value: (
        f"<{knob.name}>{value}</{knob.name}>    in the server's configuration; then restart it",
    ),
)
