"""Logs and counters of PostgreSQL (``contracts/captured.py``)."""

from __future__ import annotations

import re

from dyno.contracts.captured import Captured
from dyno.targets.postgresql.inside.statements import EXTENSION

CAPTURED = Captured(
    logs=("postgres_csv", "postgres_json"),
    counters=EXTENSION,
    grammar="postgres",
    numbered=True,
    quote='"',
    as_text="text",
    castable=re.compile(
        r"(?:timestamp|date|time|uuid|boolean|real|double|inet|money)\b[\w ()]*", re.IGNORECASE
    ),
    sample="select {shown} from {table} tablesample system ({percent}) where {where} limit {most}",
    system=frozenset({"pg_catalog", "information_schema"}),
)
