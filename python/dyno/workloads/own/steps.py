"""The statements of a transaction in the order that they run, with what they take and keep."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from dyno.errors import UsageError, nearest
from dyno.workloads.own import sql
from dyno.workloads.own.spec import DIALECTS, Draw, File, Statement, Transaction
from dyno.workloads.own.types import Kind, kind_of

MOST_RUN = 256
"""Statements that a transaction runs, and values that it draws, for the driver."""
NOW = "now"
"""The current time, in every statement."""
_KEPT = re.compile(r"([a-z][a-z0-9_]{0,40})\s+(\S.*)")


@dataclass(frozen=True)
class Step:
    """A statement.

    Attributes:
        name: ``transaction.statement``.
        text: The SQL of each dialect that has its own, and of the others under ``""``.
        takes: Variables of its parameters ``$1``, ``$2`` …
        keeps: Variables that the first columns of its first row become, with their types.
        rows: Expected number of rows.
        repeat: How often it runs.
    """

    name: str
    text: dict[str, sql.Parsed]
    rows: int | tuple[int, int] | None
    repeat: int
    keeps: dict[str, Kind] = field(default_factory=dict[str, Kind])

    @property
    def takes(self) -> tuple[str, ...]:
        """Names of its parameters, in order."""
        return self.text[""].names


def steps_of(name: str, transaction: Transaction, file: File) -> list[Step]:
    """The statements of a transaction, checked.

    Raises:
        UsageError: For an unknown parameter, a value that is needed before it is there, a value
            that is kept and never used, an invalid statement, or too many of them.
    """
    found: list[Step] = []
    for number, given in enumerate(transaction.statements, start=1):
        statement = Statement(sql=given) if isinstance(given, str) else given
        found.append(_step(f"{name}.{statement.name or number}", statement))
    names = [step.name for step in found]
    if twice := next((each for each in names if names.count(each) > 1), None):
        raise UsageError(f"transactions.{twice} is defined twice.")
    _require_values(name, found, file.draws)
    _require_few(found, file.draws)
    return found


def _step(where: str, statement: Statement) -> Step:
    place = f"transactions.{where}"
    text = {"": sql.parsed(statement.sql, place)}
    for dialect in DIALECTS:
        if (own := getattr(statement, dialect)) is not None:
            parsed = sql.parsed(own, f"{place}.{dialect}")
            text[dialect] = _renumbered(parsed, text[""].names, f"{place}.{dialect}")
    keeps: dict[str, Kind] = {}
    for kept in statement.keep:
        if (found := _KEPT.fullmatch(kept)) is None:
            raise UsageError(f"{place}.keep has '{kept}'; write NAME TYPE, such as balance bigint.")
        if found[1] in keeps or found[1] == NOW:
            raise UsageError(f"{place}.keep has '{found[1]}' twice, or it is a fixed name.")
        keeps[found[1]] = kind_of(found[2], f"{place}.keep {found[1]}")
    if keeps and statement.repeat > 1:
        raise UsageError(f"{place} has keep and repeat; which row would stay is not defined.")
    rows = statement.rows
    least, most = rows if isinstance(rows, tuple) else (rows or 0, rows or 0)
    if not 0 <= least <= most:
        raise UsageError(f"{place}.rows is {rows}; it must be 0 or more, the smaller number first.")
    return Step(where, text, rows, statement.repeat, keeps)


def _renumbered(parsed: sql.Parsed, names: tuple[str, ...], where: str) -> sql.Parsed:
    """The statement of a dialect with the parameter numbers of the general one."""
    strange = [name for name in parsed.names if name not in names]
    if strange:
        raise UsageError(f"{where} uses :{strange[0]}, which does not occur in `sql`.")
    text = parsed.filled([f"${names.index(name) + 1}" for name in parsed.names])
    return replace(parsed, sql=text, names=names)


def size_of(steps: Iterable[tuple[Collection[str], int]]) -> tuple[int, int]:
    """How many statements a transaction runs, and how many values it draws.

    Args:
        steps: The draws that each statement takes, and how often it runs. A statement that runs
            once shares its values with others; one that repeats draws its own each time.
    """
    listed = list(steps)
    shared = {name for taken, repeat in listed if repeat == 1 for name in taken}
    own = sum(repeat * len(taken) for taken, repeat in listed if repeat > 1)
    return sum(repeat for _, repeat in listed), len(shared) + own


def _require_few(steps: Sequence[Step], draws: Collection[str]) -> None:
    sizes = [([name for name in step.takes if name in draws], step.repeat) for step in steps]
    for number, step in enumerate(steps, start=1):
        counts = size_of(sizes[:number])
        for count, what in zip(counts, ("statements", "drawn values"), strict=True):
            if count > MOST_RUN:
                raise UsageError(
                    f"transactions.{step.name} brings its transaction to {count:,} {what}, with "
                    f"each repeat counted; the maximum is {MOST_RUN}. Lower repeat, or split it."
                )


def _require_values(name: str, steps: list[Step], draws: dict[str, Draw]) -> None:
    keepers = {kept: step for step in steps for kept in step.keeps}
    for kept, step in keepers.items():
        if kept in draws:
            raise UsageError(f"transactions.{step.name}.keep has '{kept}', which is a draw, too.")
    there: set[str] = {NOW, *draws}
    used: set[str] = set()
    for step in steps:
        for taken in step.takes:
            if taken in there:
                used.add(taken)
            elif taken in keepers:
                raise UsageError(_too_early(step, taken, keepers))
            else:
                hint = nearest(taken, [*draws, *keepers, NOW])
                raise UsageError(
                    f"transactions.{step.name} has the unknown parameter :{taken}. {hint}"
                )
        if again := next((kept for kept in step.keeps if kept in there), None):
            raise UsageError(f"transactions.{step.name}.keep has '{again}' a second time.")
        there |= set(step.keeps)
    for kept, step in keepers.items():
        if kept not in used:
            raise UsageError(
                f"transactions.{step.name}.keep has '{kept}', which no later statement of {name} "
                "uses. Remove it."
            )


def _too_early(step: Step, taken: str, keepers: dict[str, Step]) -> str:
    """What needs a value before it is there: a cycle, or an order that does not work."""
    path = list(_path(step, taken, keepers))
    if path[-1] is step:
        words = " needs ".join(each.name for each in [step, *path])
        return f"transactions have a cycle of values: {words}."
    return (
        f"transactions.{step.name} needs :{taken}, which only {keepers[taken].name} after it "
        "keeps. Move it up."
    )


def _path(step: Step, taken: str, keepers: dict[str, Step]) -> Iterator[Step]:
    """The statements that a value needs, to the first one again or to the end."""
    seen: list[Step] = []

    def search(wanted: Step, chain: tuple[Step, ...]) -> tuple[Step, ...] | None:
        chain = (*chain, wanted)
        if wanted is step:
            return chain
        if wanted in seen:
            return None
        seen.append(wanted)
        needs = [keepers[each] for each in wanted.takes if each in keepers]
        return next((found for each in needs if (found := search(each, chain))), None)

    yield from search(keepers[taken], ()) or (keepers[taken],)


def used_draws(steps: Collection[Step], draws: dict[str, Draw]) -> list[str]:
    """The draws that these statements take, in the order of the file."""
    taken = {name for step in steps for name in step.takes}
    return [name for name in draws if name in taken]
