"""What a workload's refresh functions insert and delete, and how rows of theirs are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class UpdateSet:
    """Rows of a pair of functions: the first inserts new ones, the second deletes loaded ones.

    Attributes:
        number: From 0, in the order in which sets are used.
        rows: New rows a table, in the order in which they go in; rows leave in the opposite one.
            As many loaded rows are deleted.
        new: For each of these tables, the condition (neutral SQL) that holds for the rows that are
            inserted and no others.
        loaded: The same for the loaded rows that are deleted.
        facts: Where its keys lie, for the record.
        readers: The new rows of each table as Arrow streams, given a ``_core.Control`` to cancel
            them.
        loaded_readers: The same for the loaded rows, as they were.
    """

    number: int
    rows: Mapping[str, int]
    new: Mapping[str, str]
    loaded: Mapping[str, str]
    facts: Mapping[str, int]
    readers: Callable[[Any], dict[str, Any]]
    loaded_readers: Callable[[Any], dict[str, Any]]


@dataclass(frozen=True)
class Refresh:
    """A workload's refresh functions.

    Attributes:
        update_set: The update set of a scale and a number.
        foreign: For each table that they change, the condition that holds for new rows of any set
            and for no loaded row. Tables stand in the order in which rows leave.
        digests: For each of these tables, aggregates that tell its keys: if none of them changed,
            no key was added, lost or altered.
    """

    update_set: Callable[[float, int], UpdateSet]
    foreign: Mapping[str, str]
    digests: Mapping[str, str]


def delete(table: str, condition: str) -> str:
    """The statement that deletes the rows of ``table`` for which ``condition`` holds."""
    return f"DELETE FROM {table} WHERE {condition}"  # noqa: S608  (fixed names, own numbers)


def matching(table: str, condition: str) -> str:
    """Those rows, to follow ``FROM``."""
    return f"{table} WHERE {condition}"
