"""Files next to a workload file: SQL of queries, and their answers as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from dyno.errors import UsageError
from dyno.safety import safefiles
from dyno.workloads.own import sql
from dyno.workloads.own.forms import Query

LONGEST_ANSWER = 16 << 20
"""Bytes of an answer."""


def queries_of(queries: Sequence[Query], folder: Path | None) -> list[Query]:
    """The queries with the texts of their files in place.

    Raises:
        UsageError: If a query has no text or two, or a file is not usable.
    """
    return [_whole(query, folder) for query in queries]


def _whole(query: Query, folder: Path | None) -> Query:
    where = f"queries.{query.name}"
    if query.file is not None and query.sql is not None:
        raise UsageError(f"{where} has sql and file; remove one.")
    if query.file is None and not query.texts:
        raise UsageError(f"{where} has neither sql nor file.")
    found = query
    if query.file is not None:
        text = _text(query.file, folder, f"{where}.file", sql.LONGEST)
        found = found.model_copy(update={"sql": text})
    if isinstance(query.answer, str):
        text = _text(query.answer, folder, f"{where}.answer", LONGEST_ANSWER)
        found = found.model_copy(update={"answer": _rows(text, query.answer)})
    return found


def _text(name: str, folder: Path | None, where: str, most: int) -> str:
    place = PurePosixPath(name)
    if place.is_absolute() or ".." in place.parts or not place.parts:
        raise UsageError(f"{where} is '{name}'; it must be below the folder of this file.")
    if folder is None:
        raise UsageError(f"{where} needs a file on disk.")
    try:
        return safefiles.read_text(folder / place, most, below=folder)
    except (OSError, UnicodeError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"{where}: cannot read {name}: {reason}.") from error


def _rows(text: str, name: str) -> list[list[int | float | str]]:
    try:
        rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True))
    except csv.Error as error:
        raise UsageError(f"{name} is not valid CSV: {error}.") from error
    if not rows:
        raise UsageError(f"{name} has no header.")
    return [[*row] for row in rows[1:] if row]
