"""The checks of a file: queries whose answers the data must give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dyno.bundle import check_names
from dyno.bundle.model import Check as Result
from dyno.contracts.rule import Rows, inferred
from dyno.contracts.target import Connection, QueryResult
from dyno.errors import UsageError
from dyno.safety.messages import without_values
from dyno.workloads.answers import compare_engines
from dyno.workloads.conditions import ROWS_SHOWN
from dyno.workloads.own import sql
from dyno.workloads.own.fields import span
from dyno.workloads.own.forms import EXPECTED, Check, chosen

NULL = "\\N"


def require(check: Check) -> None:
    """Refuses a check that changes data, or that states two expectations.

    Raises:
        UsageError: With the check.
    """
    where = f"the check '{check.name}'"
    if not check.texts:
        raise UsageError(f"{where} has no sql.")
    given = [key for key in EXPECTED if getattr(check, key) is not None]
    if len(given) > 1:
        raise UsageError(f"{where} has {' and '.join(given)}; use one of them.")
    for text in (*check.texts.values(), *([check.same_as] if check.same_as is not None else [])):
        if require_query(text, where).names:
            raise UsageError(f"{where} must be a SELECT without parameters.")
    if check.rows is not None:
        require_span(check.rows, f"{where}: rows")
    if check.answer is not None:
        require_answer(check.answer, f"{where}: answer")


def require_query(text: str, where: str) -> sql.Parsed:
    """The parsed text of a query, which must not change anything.

    Raises:
        UsageError: If it does.
    """
    found = sql.parsed(text, where)
    if found.sql.lstrip("( \n").lower().startswith(sql.QUERIES) and not found.changes:
        return found
    word = (found.changes or [found.sql.split()[0]])[0].upper()
    raise UsageError(f"{where} changes data ({word}); it must be a SELECT that only reads.")


def require_span(rows: int | tuple[int, int], where: str) -> None:
    """Refuses a negative number of rows, or a minimum above its maximum.

    Raises:
        UsageError: With the numbers.
    """
    least, most = span(rows)
    if not 0 <= least <= most:
        raise UsageError(f"{where} is {rows}; it must be 0 or more, the smaller number first.")


def require_answer(rows: Sequence[Sequence[Any]], where: str) -> None:
    """Refuses rows of different lengths.

    Raises:
        UsageError: With the row.
    """
    wrong = next((at for at, row in enumerate(rows, 1) if not row or len(row) != len(rows[0])), 0)
    if wrong:
        raise UsageError(f"{where}, row {wrong}: each row needs the same number of values.")


def cells(rows: Rows) -> Rows:
    """Rows of a file as an answer: NULL in place of its spelling."""
    return [tuple(None if value == NULL else value for value in row) for row in rows]


def run(target: str, session: Connection, check: Check) -> Result:
    """Runs a check; the evidence of a failed one is in its message and its detail.

    Raises:
        UsageError: If the check has no SQL for the target.
    """
    text = chosen(check.texts, target)
    if text is None:
        raise UsageError(f"The check '{check.name}' has no SQL for {target}.")
    with without_values():
        answer = session.execute(sql.parsed(text, check.name).sql)
    name = f"{check_names.CONDITION}: {check.name}"
    made = Result(name=name, target=target, passed=True, message="")
    if check.same_as is not None:
        with without_values():
            other = session.execute(sql.parsed(check.same_as, check.name).sql)
        return _compared(made, answer, other.rows)
    if check.answer is not None:
        return _compared(made, answer, cells(check.answer))
    if check.value is not None:
        return _compared(made, answer, cells([[check.value]]))
    return _counted(made, answer, check.rows)


def _counted(made: Result, answer: QueryResult, rows: int | tuple[int, int] | None) -> Result:
    found = len(answer.rows)
    least, most = (0, 0) if rows is None else span(rows)
    passed = least <= found <= most
    if rows is None:
        violates = "violates" if found == 1 else "violate"
        message = "no row violates it" if passed else f"{_rows(found)} {violates} it"
        shown = "" if passed else f"; first: {_words(answer)}"
        detail: dict[str, Any] = {"violations": found}
    else:
        expected = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        message = _rows(found) if passed else f"{_rows(found)}, expected {expected}"
        shown, detail = "", {"rows": found, "expected": expected}
    if not passed:
        detail["first_rows"] = [list(map(_plain, row)) for row in answer.rows[:ROWS_SHOWN]]
    return made.model_copy(
        update={"passed": passed, "message": f"{message}{shown}", "detail": detail}
    )


def _compared(made: Result, answer: QueryResult, expected: Rows) -> Result:
    columns = len(answer.columns)
    if expected and len(expected[0]) != columns:
        message = f"{columns} columns, expected {len(expected[0])}"
        return made.model_copy(update={"passed": False, "message": message})
    rules = inferred(columns, [*answer.rows, *expected])
    found = compare_engines(answer.rows, expected, rules)
    if not found:
        return made.model_copy(update={"message": f"{_rows(len(expected))} as expected"})
    detail = {"differences": [str(one) for one in found]}
    message = f"differs from what is expected: {found[0]}"
    return made.model_copy(update={"passed": False, "message": message, "detail": detail})


def _rows(count: int) -> str:
    return f"{count:,} row{'s'[: count != 1]}"


def _words(answer: QueryResult) -> str:
    row = map(_plain, answer.rows[0])
    return ", ".join(f"{name} {value}" for name, value in zip(answer.columns, row, strict=True))


def _plain(value: Any) -> int | str | None:
    return value if value is None or isinstance(value, int) else str(value)
