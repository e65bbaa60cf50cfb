"""Answers of a SQL Server, from files, and a session that gives them.

The files say where their rows come from: composed after the documentation, none from a server.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dyno.contracts.target import QueryResult
from dyno.errors import DynoError, TargetError
from dyno.targets.sqlserver.errors import Message
from dyno.targets.sqlserver.version import Version

FOLDER = Path(__file__).parent / "recorded" / "sqlserver"
SERVER = Version("SQL Server", (16, 0, 4135, 4), "Developer Edition (64-bit)")
STANDARD = Version("SQL Server", (16, 0, 4135, 4), "Standard Edition (64-bit)")
EXPRESS = Version("SQL Server", (16, 0, 4135, 4), "Express Edition (64-bit)")
BABELFISH = Version("Babelfish", (4, 3, 0))

Answer = QueryResult | Exception


def names() -> list[str]:
    """All files, without their ending."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def document(name: str) -> dict[str, Any]:
    """A file."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return found


def readings(name: str) -> list[QueryResult]:
    """The readings of a file, as a driver returns them."""
    found = document(name)
    columns = [str(column) for column, _ in found["columns"]]
    kinds = [str(kind) for _, kind in found["columns"]]
    return [
        QueryResult(columns, [tuple(map(_value, kinds, row)) for row in reading])
        for reading in found["readings"]
    ]


def _value(kind: str, value: Any) -> Any:
    if value is not None and "binary" in kind:
        return bytes.fromhex(str(value)[2:])
    return value


def absent(view: str) -> TargetError:
    """The error of a server without a view."""
    return TargetError(f"Invalid object name '{view}' [error 208].", kind="database")


def denied(view: str) -> TargetError:
    """The error of a login without the right to read a view."""
    return TargetError(f"VIEW SERVER STATE permission was denied: {view} [error 300].",
                       kind="denied")  # fmt: skip


class Recorded:
    """A session that gives the next answer to each statement; the last one again and again.

    Attributes:
        asked: The statements, in order.
        messages: What the server said about the last one, beside rows.
        statements: How many they are.
    """

    def __init__(
        self,
        answers: Mapping[str, Sequence[Answer] | Answer],
        version: Version = SERVER,
        number: int = 77,
    ) -> None:
        self.asked: list[str] = []
        self.messages: list[Message] = []
        self.statements = 0
        self.version, self.number = version, number
        self.closed = self.cancelled = False
        self._answers = {
            sql: list(found) if isinstance(found, list) else [found]
            for sql, found in answers.items()
        }

    def execute(self, sql: str, needs: str = "") -> QueryResult:
        """The next answer; a statement without one names an object that does not exist."""
        self.asked.append(sql)
        self.statements += 1
        found = self._answers.get(sql)
        if not found:
            raise absent(sql)
        answer = found.pop(0) if len(found) > 1 else found[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def results(self, sql: str) -> list[QueryResult]:
        """An answer of rows without a plan, and the next one."""
        return [rows(["other"]), self.execute(sql)]

    def account(self) -> str:
        return "[dyno]"

    def cancel(self) -> None:
        self.cancelled = True

    def close(self) -> None:
        self.closed = True


def rows(*found: Sequence[Any]) -> QueryResult:
    """Rows without names of columns."""
    return QueryResult([], [tuple(row) for row in found])


def caused(number: int, text: str) -> DynoError:
    """An error with its cause, as the driver library raises it."""
    error = TargetError(f"{text} [error {number}].", kind="database")
    error.__cause__ = Exception(number, text.encode())
    return error
