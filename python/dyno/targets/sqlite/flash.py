"""Why Dyno moves no part of a SQLite database, and what does."""

from __future__ import annotations

from collections.abc import Mapping

from dyno.contracts.flash import Part

LACKS: Mapping[Part, str] = {
    "temp": "each program that opens the file has its own folder: set SQLITE_TMPDIR in its "
    "environment. For Dyno's runs: --set temp_path=FOLDER",
    "database": "it is one file, which its programs open by path: close it and move the file, or "
    "put a cache in front of its folder (dyno accelerate apply)",
    "log": "its log is beside the file, by the file's name",
}
