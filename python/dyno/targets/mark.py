"""Dyno's mark on its tables: a comment that identifies them and describes their data."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from dyno import workloads
from dyno.contracts import databases, schema
from dyno.contracts.target import Loaded
from dyno.errors import UsageError

PREFIX = "dyno:"


def schema_of(workload: str) -> str:
    """The database schema of a workload's tables, which holds nothing of others than Dyno."""
    return databases.schema_of(workload)


def schema_mark(workload: str) -> str:
    """The comment on a schema that Dyno created for ``workload``."""
    return f"{PREFIX}{databases.home_of(workload)} schema"


def write(workload: str, loaded: Loaded | None) -> str:
    """The comment for tables of ``workload``; None before anything is loaded."""
    content = {} if loaded is None else dict(vars(loaded))
    for name in ("layout", "update_sets", "unrestored", "days", "setup"):
        if not content.get(name):
            content.pop(name, None)
    return f"{PREFIX}{workload} {json.dumps(content)}"


def is_mark(comment: str | None, workload: str) -> bool:
    """Whether a table's comment states that Dyno created it for ``workload``."""
    return comment is not None and comment.startswith(f"{PREFIX}{workload} ")


def set_up(relations: Mapping[str, str | None], workload: str) -> set[str]:
    """The tables of a schema that a setup of Dyno created: those that a mark names.

    Dyno writes the mark before the setup runs, and only if none of its tables exists.
    """
    marks = [comment for comment in relations.values() if is_mark(comment, workload)]
    named = {name for comment in marks if (held := _parse(comment)) for name in held.setup}
    return named & set(relations)


def read(relations: Mapping[str, str | None], workload: str) -> Loaded | None:
    """The data in the tables of a workload, from their comments.

    Data counts as complete only if every table has the same comment, and it states so. The first
    table has the valid number of update sets: marks are written in order, not in one transaction.

    Args:
        relations: Comments of all relations with a table's name, in the workload's schema.
        workload: The workload.

    Returns:
        None if none of the tables has a comment of Dyno's.
    """
    comments = [relations.get(name) for name in schema.table_names(workload)]
    marked = [comment for comment in comments if is_mark(comment, workload)]
    if not marked:
        return None
    found = [_parse(comment) for comment in comments]
    first = next((item for item in found if item is not None), Loaded(0.0, 0, complete=False))
    whole = all(item == first for item in found)
    return dataclasses.replace(first, complete=first.complete and whole)


def to_replace(
    place: str, workload: str, relations: Mapping[str, str | None], *, replace: bool
) -> list[str]:
    """Tables to drop before the workload's tables can be created.

    Args:
        place: The schema, for the message.
        workload: The workload to create.
        relations: Comments of all relations with a table's name there.
        replace: Whether the user allowed Dyno to replace its tables.

    Raises:
        UsageError: If Dyno did not create one of them, or any exists and ``replace`` is false.
    """
    found, created = workloads.known(workload), set_up(relations, workload)
    names = {*schema.table_names(workload), *(() if found is None else found.creates)}
    existing = sorted(names & set(relations) | created)
    foreign = [
        name for name in existing if not is_mark(relations[name], workload) and name not in created
    ]
    if foreign:
        raise UsageError(
            f"{place} contains tables that Dyno did not create ({', '.join(foreign)}); Dyno "
            "never replaces them. Move them, or use another database."
        )
    if existing and not replace:
        raise UsageError(
            f"{place} already contains {workload} tables; use --replace to load them again."
        )
    return existing


def _days(content: Mapping[str, Any]) -> int | None:
    return int(content["days"]) if "days" in content else None


def _parse(comment: str | None) -> Loaded | None:
    try:
        content = json.loads((comment or "").partition(" ")[2])
        return Loaded(
            float(content["scale"]),
            int(content["seed"]),
            content["complete"] is True,
            str(content.get("layout", "")),
            int(content.get("update_sets", 0)),
            int(content.get("unrestored", 0)),
            _days(content),
            tuple(str(name) for name in content.get("setup", ())),
        )
    except (ValueError, KeyError, TypeError):
        return None
