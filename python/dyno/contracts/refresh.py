"""Refresh functions of a workload: what they insert and delete, and how to identify their rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class UpdateSet:
    """Rows of a pair of refresh functions: one inserts new rows, the other deletes loaded ones.

    Attributes:
        number: From 0, in the order of use.
        rows: Number of new rows by table, in insert order; deletes run in reverse order.
            As many loaded rows are deleted.
        new: By table, the condition (neutral SQL) that selects the inserted rows and no
            others.
        loaded: By table, the condition that selects the deleted rows.
        facts: Its key ranges, for the record.
        readers: New rows by table as Arrow streams; takes a ``_core.Control`` for
            cancellation.
        loaded_readers: The loaded rows by table, in the same form.
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
        update_set: The update set for a scale and a number.
        foreign: By table, the condition that selects new rows of any set and no loaded row,
            in delete order.
        digests: By table, aggregates over its keys: if they are unchanged, no key was added,
            removed or changed.
    """

    update_set: Callable[[float, int], UpdateSet]
    foreign: Mapping[str, str]
    digests: Mapping[str, str]


def delete(table: str, condition: str) -> str:
    """The statement that deletes the rows of ``table`` that match ``condition``."""
    return f"DELETE FROM {table} WHERE {condition}"  # noqa: S608  (fixed names, own numbers)


def matching(table: str, condition: str) -> str:
    """These rows, as text after ``FROM``."""
    return f"{table} WHERE {condition}"
