"""What a file must satisfy beyond the types of its keys."""

from __future__ import annotations

import math

from dyno.config.units import parse_seconds
from dyno.errors import UsageError, nearest
from dyno.workloads.own import checks, queryreview, setup, sql, tables
from dyno.workloads.own.spec import Draw, File, Transaction, require_draw
from dyno.workloads.own.steps import NOW, steps_of
from dyno.workloads.own.types import kind_of

LONGEST_PAUSE_S = 3600.0
_RANGES = ("uniform", "zipf", "nurand")
_WHOLE = ("zipf", "nurand", "sequence", "latest")
"""Ways with numbers that are ranks or follow one another, so that they have no fraction."""
_DECIMALS = ("uniform", "query", "csv", "constant")


def review(file: File) -> None:
    """Refuses what makes no sense.

    Raises:
        UsageError: With the key.
    """
    if not file.transactions and not file.queries:
        raise UsageError("transactions is missing; a file has [transactions] or [[queries]].")
    if file.transactions and file.queries:
        raise UsageError(
            "it has [transactions] and [[queries]]; a run drives one of them. Put the queries in a "
            "file of their own. With the same name, it shares the tables."
        )
    queryreview.require_kind(file)
    tables.require(file)
    setup.require(file)
    for name, draw in file.draws.items():
        if name == NOW:
            raise UsageError(f"draws.{NOW}: the name is fixed; it is the current time.")
        require_draw(name, draw)
        _require_references(file, name, draw)
    for name, transaction in file.transactions.items():
        _require_pace(name, transaction)
        steps_of(name, transaction, file)
    if file.main is not None and file.main not in file.transactions:
        raise UsageError(f"main is '{file.main}'. {nearest(file.main, file.transactions)}")
    queryreview.require(file)
    for check in file.checks:
        checks.require(check)


def _require_pace(name: str, transaction: Transaction) -> None:
    weight = transaction.weight
    if not (math.isfinite(weight) and weight > 0):
        raise UsageError(
            f"transactions.{name}.weight is {weight:g}; it must be above 0. Remove the "
            "transaction if it should not run."
        )
    for key in ("think", "keying"):
        text = getattr(transaction, key)
        if text is not None and seconds(text) > LONGEST_PAUSE_S:
            raise UsageError(f"transactions.{name}.{key} is {text}; it must be at most 1 h.")


def seconds(text: str | None) -> float:
    """A pause in seconds; 0 without one."""
    return 0.0 if text is None else parse_seconds(text, none=True)


def _require_references(file: File, name: str, draw: Draw) -> None:
    where = f"draws.{name}"
    if draw.type is not None and isinstance(kind_of(draw.type, where), dict):
        _require_decimals(where, draw)
    for way in _RANGES:
        if (span := getattr(draw, way)) is None:
            continue
        low, high = (bound_at_scale_1(file, bound, f"{where}.{way}") for bound in span)
        if low > high:
            raise UsageError(f"{where}.{way} has a minimum above its maximum: {low:,}, {high:,}.")
        if draw.type in {"text"}:
            raise UsageError(f"{where} draws numbers; they do not fit the type text.")
    if isinstance(draw.letters, tuple) and draw.letters[0] > draw.letters[1]:
        raise UsageError(f"{where}.letters has a minimum above its maximum.")
    if (draw.letters is not None or draw.pattern is not None) and draw.type not in {None, "text"}:
        raise UsageError(f"{where} draws texts; they do not fit the type {draw.type}.")
    if isinstance(draw.sequence, str):
        bound_at_scale_1(file, draw.sequence, f"{where}.sequence")
        tables.sole_key(file, draw.sequence, f"{where}.sequence")
    if draw.latest is not None:
        other = file.draws.get(draw.latest)
        if other is None or other.sequence is None:
            sequences = [each for each, found in file.draws.items() if found.sequence is not None]
            raise UsageError(
                f"{where}.latest is '{draw.latest}', which is not a sequence in [draws]. "
                f"{nearest(draw.latest, sequences)}"
            )
    if draw.query is not None and (
        not (found := sql.parsed(draw.query, f"{where}.query")).reads or found.names
    ):
        raise UsageError(
            f"{where}.query must be a SELECT without parameters that changes and locks no rows."
        )


def _require_decimals(where: str, draw: Draw) -> None:
    """Refuses decimals of a way that draws whole numbers only."""
    if draw.way in _WHOLE:
        raise UsageError(
            f"{where} draws whole numbers; the type {draw.type} is for {', '.join(_DECIMALS)}. "
            "Remove the type; the server converts the number."
        )


def bound_at_scale_1(file: File, bound: int | str, where: str) -> int:
    """A bound as a number, with the tables' rows at scale 1.

    Raises:
        UsageError: If it names no table of the file, or is no 64-bit number.
    """
    if isinstance(bound, str):
        if bound not in file.tables:
            known = nearest(bound, file.tables) if file.tables else "The file has no tables."
            raise UsageError(f"{where} has '{bound}', which is not a table in the file. {known}")
        return file.tables[bound].rows
    if not -(2**63) <= bound < 2**63:
        raise UsageError(f"{where} has {bound}, which is not a 64-bit integer.")
    return bound
