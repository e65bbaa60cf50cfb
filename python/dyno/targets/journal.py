"""The journal of a load: which parts of which tables are in, so that it can go on after a kill.

It is a table of Dyno's beside the workload's. Each part adds its row in the transaction that loads
it, so the two are there together or not at all. The journal begins with the load, goes with the
mark that says the data is whole, and goes with the tables when they are replaced.
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
    """A part that is in: number ``part`` (from 1) of the ``parts`` of ``table``."""

    table: str
    part: int
    parts: int
    rows: int


def comment(plan: LoadPlan) -> str:
    """What the journal says of the load that it belongs to."""
    head = {"scale": plan.scale, "seed": plan.seed, "streams": plan.streams}
    return f"{PREFIX}{plan.workload} journal {json.dumps(head)}"


def is_journal(text: str | None, workload: str) -> bool:
    """Whether a table's comment says that it is Dyno's journal of a load of ``workload``."""
    return text is not None and text.startswith(f"{PREFIX}{workload} journal ")


def ready(
    plan: LoadPlan, found: tuple[Unfinished, list[Done]] | None, start: Callable[[], None]
) -> list[Done]:
    """The parts that are in, from a journal that is ready to take more.

    A load that goes on keeps what was ``found``, others ``start`` a new one; so does a load that
    found no part in it, which may cut the tables as it likes.
    """
    if not plan.resume or found is None or not found[1]:
        start()
        return []
    return found[1]


def require_own(present: Mapping[str, str | None], workload: str) -> None:
    """Passes if there is no journal yet, or one of Dyno's; ``present`` has comments by table.

    Raises:
        UsageError: If a table of that name is not Dyno's.
    """
    if TABLE in present and not is_journal(present[TABLE], workload):
        raise UsageError(
            f"{schema_of(workload)}.{TABLE} was not created by Dyno; rename or move it."
        )


def unfinished(
    text: str | None, workload: str, rows: Sequence[Sequence[Any]]
) -> tuple[Unfinished, list[Done]] | None:
    """What a journal's comment and rows tell; None if it is not Dyno's or cannot be read."""
    if text is None or not is_journal(text, workload):
        return None
    try:
        head = json.loads(text.split(" ", 2)[2])
        scale, seed, streams = float(head["scale"]), int(head["seed"]), int(head["streams"])
    except (ValueError, KeyError, TypeError):
        return None
    done = [Done(str(table), int(part), int(of), int(count)) for table, part, of, count in rows]
    total = sum(item.rows for item in done)
    return Unfinished(scale, seed, streams, len(done), total), done
