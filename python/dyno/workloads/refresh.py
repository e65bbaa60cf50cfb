"""What a workload's refresh functions insert and delete, and how rows of theirs are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RefreshPair:
    """One pair: the first function inserts new rows, the second deletes the same ones.

    Attributes:
        number: From 0, which is the power test's.
        rows: Rows a table, in the order in which they go in; they leave in the opposite one.
        own: For each of these tables, the condition (neutral SQL) that holds for the pair's rows
            and no others.
        facts: Where its keys lie, for the record.
        readers: The rows of each table as Arrow streams, given a ``_core.Control`` to cancel them.
    """

    number: int
    rows: Mapping[str, int]
    own: Mapping[str, str]
    facts: Mapping[str, int]
    readers: Callable[[Any], dict[str, Any]]


@dataclass(frozen=True)
class Refresh:
    """A workload's refresh functions.

    Attributes:
        pair: The pair of a scale, a seed and a number.
        foreign: For each table that they change, the condition that holds for rows of any pair
            and for no loaded row. Tables stand in the order in which rows leave.
        digests: For each of these tables, aggregates that tell its keys: if none of them changed,
            no key was added, lost or altered.
    """

    pair: Callable[[float, int, int], RefreshPair]
    foreign: Mapping[str, str]
    digests: Mapping[str, str]


def delete(table: str, condition: str) -> str:
    """The statement that deletes the rows of ``table`` for which ``condition`` holds."""
    return f"DELETE FROM {table} WHERE {condition}"  # noqa: S608  (fixed names, own numbers)


def matching(table: str, condition: str) -> str:
    """Those rows, to follow ``FROM``."""
    return f"{table} WHERE {condition}"
