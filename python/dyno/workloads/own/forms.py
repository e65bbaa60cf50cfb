"""The strict form of queries, setups and checks in a workload file."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from dyno.config.strict import Strict
from dyno.workloads.own.fields import Name, Rows

MOST_CREATED = 20
Cell = int | float | str | bool | dt.date
"""A value of an answer; ``\\N`` is NULL."""
Answer = Annotated[list[list[Cell]], Field(max_length=10_000)]

T = TypeVar("T")


class Worded(Strict):
    """SQL, with other words for some targets.

    Attributes:
        sql: SQL for all targets without a key of their own.
        postgres, mysql, sqlite, sqlserver, duckdb, clickhouse: SQL for this target instead.
    """

    sql: str | None = None
    postgres: str | None = None
    mysql: str | None = None
    sqlite: str | None = None
    sqlserver: str | None = None
    duckdb: str | None = None
    clickhouse: str | None = None

    @property
    def texts(self) -> dict[str, str]:
        """SQL by key of the target, and of all others under an empty key."""
        first, *keys = Worded.model_fields
        listed = {"": getattr(self, first), **{key: getattr(self, key) for key in keys}}
        return {key: text for key, text in listed.items() if text is not None}


def chosen(texts: Mapping[str, T], target: str) -> T | None:
    """What is for a target; a key is its name or the beginning of it."""
    own = (text for key, text in texts.items() if key and target.startswith(key))
    return next(own, texts.get(""))


class Query(Worded):
    """A query for decision support.

    Attributes:
        title: A few words for reports.
        sql: SQL with parameters ``:name``.
        file: File with it, in the folder of this file or below.
        weight: How often each stream of a throughput test runs it.
        values: Fixed values of parameters, instead of drawn ones, in power tests.
        rows: Number of rows that it must return.
        answer: Its rows in a power test, in any order, or a CSV file with a header.
        scale: Of the tables, for ``answer``.
    """

    name: Name
    title: Annotated[str, Field(max_length=100)] = ""
    file: str | None = None
    weight: Annotated[int, Field(ge=1, le=100)] = 1
    values: dict[Name, int | str] = {}
    rows: Rows = None
    answer: Answer | str | None = None
    scale: Annotated[float, Field(gt=0)] = 1.0


class Step(Worded):
    """A statement of a setup.

    Attributes:
        name: In messages, the record and the report.
    """

    name: Name | None = None


class Setup(Strict):
    """Statements that follow a load, in order.

    Attributes:
        creates: The tables that they create.
    """

    creates: Annotated[list[Name], Field(max_length=MOST_CREATED)] = []
    statements: Annotated[list[str | Step], Field(min_length=1, max_length=200)]


class Check(Worded):
    """A query that returns no row if the data is right, unless it states what it must return.

    Attributes:
        after: ``load``, ``run`` or ``both``.
        rows: The number of rows that it must return.
        value: The only value that it must return.
        answer: The rows that it must return, in any order.
        same_as: SQL of a query that must return the same rows.
    """

    name: str
    after: Literal["load", "run", "both"] = "both"
    rows: Rows = None
    value: Cell | None = None
    answer: Answer | None = None
    same_as: str | None = None


EXPECTED = ("rows", "value", "answer", "same_as")
"""Keys of a check, of which it has at most one."""
