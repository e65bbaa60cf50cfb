"""The tables of a file, as the generator declares them."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from dyno.contracts.workload import Index
from dyno.errors import UsageError, nearest
from dyno.workloads.own.spec import File, Table
from dyno.workloads.own.types import column_of

MOST_TABLES = 100
_RESERVED = re.compile(
    r"all|analyze|and|any|array|as|asc|both|case|cast|check|collate|column|constraint|create|cross|"
    r"current_date|current_time|current_timestamp|current_user|default|desc|distinct|else|end|"
    r"except|false|fetch|for|foreign|from|full|grant|group|having|in|inner|intersect|into|is|join|"
    r"leading|left|like|limit|natural|not|null|offset|on|or|order|outer|primary|references|right|"
    r"select|session_user|some|table|then|to|trailing|true|union|unique|user|using|when|where|"
    r"window|with"
)
"""Words that no statement takes for a table without quotes; PostgreSQL reserves all of them."""


def require(file: File) -> None:
    """Refuses invalid columns, keys and indexes.

    Raises:
        UsageError: With the key.
    """
    if len(file.tables) > MOST_TABLES:
        raise UsageError(f"there are more than {MOST_TABLES} tables.")
    for name, table in file.tables.items():
        if _RESERVED.fullmatch(name):
            raise UsageError(f"tables.{name} is a reserved word of SQL; choose another name.")
        for column, text in table.columns.items():
            _require_fit(*column_of(text, f"tables.{name}.columns.{column}"), f"{name}.{column}")
        lists = {"key": table.key, **{f"indexes.{it}": each for it, each in table.indexes.items()}}
        for where, columns in lists.items():
            for column in columns:
                if column not in table.columns:
                    hint = nearest(column, table.columns)
                    raise UsageError(f"tables.{name}.{where} has '{column}'. {hint}")
            if not columns and where != "key":
                raise UsageError(f"tables.{name}.{where} has no columns.")


def _require_fit(kind: dict[str, Any], values: Any, where: str) -> None:
    texts = {"char": "len", "varchar": "max"}
    if isinstance(values, dict) and "letters" in values:
        least, most = values["letters"]
        if kind["type"] not in texts:
            raise UsageError(f"tables: {where} cannot hold letters.")
        if not 0 <= least <= most <= kind[texts[kind["type"]]]:
            raise UsageError(f"tables: {where} is too short for its letters, or they are negative.")
        return
    if kind["type"] in texts:
        raise UsageError(f"tables: {where} holds text; use letters N.")
    if isinstance(values, dict) and values["between"][0] > values["between"][1]:
        raise UsageError(f"tables: {where} has a minimum above its maximum.")


def sole_key(file: File, table: str, where: str) -> str:
    """The column of a table's primary key, if it is one integer.

    Raises:
        UsageError: If it is not.
    """
    found = file.tables[table]
    if len(found.key) == 1 and found.columns[found.key[0]].split()[0] in {"int", "bigint"}:
        return found.key[0]
    raise UsageError(f"{where} needs a table whose key is one integer column; {table} has none.")


def declare(name: str, file: File) -> None:
    """Declares the tables to the generator.

    Raises:
        UsageError: If this process has read other tables of the same name.
    """
    from dyno import _core

    try:
        _core.declare(json.dumps({"name": name, "tables": declared(file)}))
    except _core.EngineError as error:
        raise UsageError(f"The tables of {name}: {error.args[1]}") from error


def declared(file: File) -> list[dict[str, Any]]:
    """The generator's declaration."""
    return [
        {
            "name": name,
            "rows": table.rows,
            "primary_key": table.key,
            "columns": [_column(column, text) for column, text in table.columns.items()],
        }
        for name, table in file.tables.items()
    ]


def digest(file: File) -> str:
    """Changes with anything that changes the rows: a resumed load must not mix two versions."""
    return hashlib.sha256(json.dumps(declared(file)).encode()).hexdigest()[:16]


def numbering(table: Table) -> tuple[str, ...]:
    """Columns of 32 bits that hold the row's number."""
    found = (_column(name, text) for name, text in table.columns.items())
    return tuple(
        str(column["name"])
        for column in found
        if column["value"] == "row" and column["kind"]["type"] in {"int32", "date"}
    )


def _column(name: str, text: str) -> dict[str, Any]:
    kind, values = column_of(text, name)
    return {"name": name, "kind": kind, "value": values}


def indexes(file: File) -> tuple[Index, ...]:
    """Secondary indexes."""
    return tuple(
        Index(name, table, tuple(columns))
        for table, found in file.tables.items()
        for name, columns in found.indexes.items()
    )


def row_bytes(table: Table) -> float:
    """Mean size of a row as text, with a separator after each value."""
    total = 0.0
    for text in table.columns.values():
        _, values = column_of(text, "")
        letters = values.get("letters") if isinstance(values, dict) else None
        total += sum(letters) / 2 + 1 if letters else 8.0
    return total
