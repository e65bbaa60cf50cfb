"""Why Dyno moves no part of a ClickHouse database, and what does."""

from __future__ import annotations

from collections.abc import Mapping

from dyno.contracts.flash import Part

LACKS: Mapping[Part, str] = {
    "temp": "chdb spills to `tmp` in its directory, which is set in the target URL",
    "database": "its parts are where the storage policy of a table puts them, and chdb has one "
    "directory only: put a cache in front of it (dyno accelerate apply)",
    "log": "ClickHouse has no log; an insert writes whole parts",
}
