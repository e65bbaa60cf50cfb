"""What a target records of the statements that it runs: its logs and its counters.

A target that has any has a module ``targets/<name>/captured.py`` with ``CAPTURED``.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from dyno.contracts.advice import TableFacts


@dataclass(frozen=True)
class Captured:
    """Records of statements, and how to draw their values again.

    Attributes:
        logs: The driver's names of formats of its logs (``dyno_drive::replay::log::Format``).
        counters: Where it counts statements, as users name it.
        grammar: The dialect of ``sqlglot`` that reads its statements.
        numbered: Whether counted statements have ``$1`` for a literal; else ``?``.
        quote: The quotation mark of names.
        as_text: The type that values of other types are cast to.
        castable: Types that such a text is cast back to; None if the server converts by itself.
        sample: SQL that draws rows of a large table: ``{shown}``, ``{table}``, ``{where}``,
            ``{share}`` (0 to 1), ``{percent}`` and ``{most}``.
        system: Schemas of the server itself.
        every: SQL that draws rows of a small table, as ``sample`` without a share.
        database: The question for the current database, marked as Dyno's; NULL for none.
        by_schema: Whether its databases are the schemas of its tables.
    """

    logs: tuple[str, ...]
    counters: str
    grammar: str
    numbered: bool
    quote: str
    as_text: str
    castable: re.Pattern[str] | None
    sample: str
    system: frozenset[str]
    every: str = "select {shown} from {table} where {where} limit {most}"
    database: str = "SELECT /* dyno observer */ current_database()"
    by_schema: bool = False


@runtime_checkable
class Named(Protocol):
    """A target that reads tables by name; of others, those of the catalog are known."""

    def named_tables(self, names: Sequence[str]) -> list[TableFacts]:
        """The tables of these names, without schema, with rows, columns and keys; of all schemas.

        Raises:
            DynoError: If the server does not respond.
        """
        ...


def captured(target: str) -> Captured | None:
    """The records of ``target``; None if it has none, or if the target is unknown."""
    if not re.fullmatch(r"[a-z]{1,40}", target):
        return None
    module = f"dyno.targets.{target}.captured"
    try:
        if importlib.util.find_spec(module) is None:
            return None
    except ModuleNotFoundError:
        return None
    found: Captured = importlib.import_module(module).CAPTURED
    return found
