"""Logs and counters of MariaDB and MySQL (``contracts/captured.py``)."""

from __future__ import annotations

from dyno.contracts.captured import Captured
from dyno.targets.mysql.inside.statements import ALIAS, OBSERVER

CAPTURED = Captured(
    logs=("general",),
    counters="performance_schema",
    grammar="mysql",
    numbered=False,
    quote="`",
    as_text="char",
    castable=None,
    sample="select {shown} from {table} where {where} and rand() < {share} limit {most}",
    system=frozenset({"information_schema", "performance_schema", "mysql", "sys"}),
    database=f"{OBSERVER}SELECT DATABASE() AS {ALIAS}",
    by_schema=True,
)
