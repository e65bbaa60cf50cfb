"""The journal of a load: the loaded parts of tables, so that a load can resume after a kill.

It is a table of Dyno next to the workload's tables. One transaction loads a part and adds its row,
so both exist or neither. A load creates the journal. The mark of complete data removes it, and so
does a replacement of the tables.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dyno.contracts.target import LoadPlan, Unfinished
from dyno.errors import UsageError
from dyno.targets.mark import PREFIX, schema_of

TABLE = "dyno_load_journal"
COLUMNS = (
    ("part_table", "VARCHAR(63)"),
    ("part", "BIGINT"),
    ("parts", "BIGINT"),
    ("part_rows", "BIGINT"),
)


@dataclass(frozen=True)
class Done:
    """A loaded part: number ``part`` (from 1) of the ``parts`` of ``table``."""

    table: str
    part: int
    parts: int
    rows: int


def comment(plan: LoadPlan) -> str:
    """The load that the journal belongs to."""
    head: dict[str, float | str] = {"scale": plan.scale, "seed": plan.seed, "streams": plan.streams}
    if plan.days is not None:
        head["days"] = plan.days
    if plan.tables:
        head["tables"] = plan.tables
    return f"{PREFIX}{plan.workload} journal {json.dumps(head)}"


def is_journal(text: str | None, workload: str) -> bool:
    """Whether a table's comment marks it as Dyno's journal of a load of ``workload``."""
    return text is not None and text.startswith(f"{PREFIX}{workload} journal ")


def is_dynos(text: str | None, workload: str) -> bool:
    """Whether a table's comment marks it as Dyno's journal of a load into ``workload``'s schema."""
    owner, _, rest = (text or "").partition(" ")
    own = owner.startswith(PREFIX) and rest.startswith("journal ")
    return own and schema_of(owner.removeprefix(PREFIX)) == schema_of(workload)


def ready(
    plan: LoadPlan, found: tuple[Unfinished, list[Done]] | None, start: Callable[[], None]
) -> list[Done]:
    """The loaded parts, from a journal that is ready for more.

    A resumed load keeps the journal that was ``found``. Others ``start`` a new one, and so does
    a resumed load whose journal is empty, which may use other parts.
    """
    if not plan.resume or found is None or not found[1]:
        start()
        return []
    return found[1]


def require_own(present: Mapping[str, str | None], workload: str) -> None:
    """Passes if there is no journal yet, or one of Dyno's; ``present`` has comments by table.

    Raises:
        UsageError: If Dyno did not create a table of that name.
    """
    if TABLE in present and not is_dynos(present[TABLE], workload):
        raise UsageError(
            f"{schema_of(workload)}.{TABLE} was not created by Dyno; rename or move it."
        )


def unfinished(
    text: str | None, workload: str, rows: Sequence[Sequence[Any]]
) -> tuple[Unfinished, list[Done]] | None:
    """Parses a journal's comment and rows; None if it is invalid or not Dyno's."""
    if text is None or not is_journal(text, workload):
        return None
    try:
        head = json.loads(text.split(" ", 2)[2])
        scale, seed, streams = float(head["scale"]), int(head["seed"]), int(head["streams"])
        days = int(head["days"]) if "days" in head else None
        tables = str(head.get("tables", ""))
    except (ValueError, KeyError, TypeError):
        return None
    done = [Done(str(table), int(part), int(of), int(count)) for table, part, of, count in rows]
    total = sum(item.rows for item in done)
    return Unfinished(scale, seed, streams, len(done), total, days, tables), done
