"""What the queries of a file must satisfy beyond the types of their keys."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from dyno.errors import UsageError, nearest
from dyno.workloads.own import checks, sql
from dyno.workloads.own.forms import Query
from dyno.workloads.own.spec import Draw, File

_SEQUENTIAL = ("sequence", "latest")
_OF_TRANSACTIONS = ("main", "plural", "retries")
_TEXTS = ("letters", "pattern")


def require_kind(file: File) -> None:
    """Refuses keys of transactions in a file of queries.

    Raises:
        UsageError: With the key.
    """
    given = next((key for key in _OF_TRANSACTIONS if key in file.model_fields_set), None)
    if file.queries and given:
        raise UsageError(f"{given} applies to transactions; the file has queries. Remove it.")


def require(file: File) -> None:
    """Refuses queries that change data, or whose parameters are not defined.

    Raises:
        UsageError: With the query.
    """
    names = [query.name for query in file.queries]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"queries.{twice} is defined twice.")
    for query in file.queries:
        where = f"queries.{query.name}"
        taken = {name for text in parsed(query).values() for name in text.names}
        sql.require_few(taken, where)
        for name in sorted(taken):
            _require_draw(name, file.draws, where)
        for name, value in query.values.items():
            if name not in taken:
                hint = nearest(name, taken) if taken else "It has no parameters."
                raise UsageError(f"{where}.values has '{name}', which it does not use. {hint}")
            _require_value(value, file.draws[name], f"{where}.values.{name}")
        if query.rows is not None:
            checks.require_span(query.rows, f"{where}: rows")
        if isinstance(query.answer, list):
            checks.require_answer(query.answer, f"{where}.answer")


def parsed(query: Query) -> dict[str, sql.Parsed]:
    """Its texts by target, checked to read only.

    Raises:
        UsageError: If one is invalid.
    """
    where = f"queries.{query.name}"
    return {
        target: checks.require_query(text, f"{where}{f', for {target}' if target else ''}")
        for target, text in query.texts.items()
    }


def _require_draw(name: str, draws: Mapping[str, Draw], where: str) -> None:
    if name not in draws:
        hint = nearest(name, draws) if draws else "The file has no [draws]."
        raise UsageError(f"{where} has the unknown parameter :{name}. {hint}")
    if draws[name].way in _SEQUENTIAL:
        raise UsageError(f"{where} has :{name}, a sequence; sequences are for transactions.")


def _require_value(value: int | str, draw: Draw, where: str) -> None:
    texts = draw.way in _TEXTS or draw.type == "text"
    numbers = draw.way in {"uniform", "zipf", "nurand"} or draw.type in {"int", "bigint"}
    if (texts and isinstance(value, int)) or (numbers and isinstance(value, str)):
        kind = "texts" if texts else "numbers"
        raise UsageError(f"{where} is {value!r}; the draw has {kind}.")
    if (draw.type or "").startswith("decimal"):
        try:
            Decimal(value)
        except ArithmeticError:
            raise UsageError(f"{where} is {value!r}; the draw has numbers.") from None
