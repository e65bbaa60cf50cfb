"""The driver's plan of the transactions: its kind ``script``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from dyno.contracts.target import Connection
from dyno.errors import UsageError
from dyno.workloads.own import pools
from dyno.workloads.own.reviewed import seconds
from dyno.workloads.own.spec import Draw, File
from dyno.workloads.own.steps import Step, steps_of, used_draws
from dyno.workloads.own.tables import sole_key
from dyno.workloads.own.types import Kind, fitting, kind_of

Connect = Callable[[], Connection]
Inputs = tuple[list[dict[str, Any]], dict[str, list[pools.Value]]]
REST = "rest"
_YCSB_EXPONENT = 0.99


@dataclass
class Planner:
    """Plans a file.

    Attributes:
        name: Name of the workload, part of its random seeds.
        csv: Values of the draws from CSV files, by draw.
        queried: Values of the draws from queries, by place and draw; they are read once a run.
    """

    name: str
    file: File
    csv: Mapping[str, list[pools.Value]]
    queried: dict[tuple[str, str], list[pools.Value | Decimal]] = field(
        default_factory=dict[tuple[str, str], list[pools.Value | Decimal]]
    )

    def prepare(self, connect: Connect, draws: Iterable[str]) -> None:
        """Reads the values of draws from queries, once a run.

        Raises:
            UsageError: If a query has no usable values.
            DatabaseError: If a query fails.
        """
        for name in draws:
            if self.file.draws[name].query is not None:
                _Planned(self, 1.0, 1, connect).input(name, name)

    def inputs(self, names: Iterable[str], scale: float) -> Inputs:
        """Draws of a query's parameters, and the values of those that are taken from a list.

        Args:
            names: The draws.
            scale: Of the loaded tables.

        Raises:
            UsageError: If a bound does not fit its type.
        """
        planned = _Planned(self, scale, 1, None)
        return [planned.input(name, name) for name in names], planned.pools

    def plan(
        self, scale: float, seed: int, connect: Connect | None, place: str = ""
    ) -> dict[str, Any]:
        """The parameters of the driver.

        Args:
            scale: Of the loaded tables.
            seed: Of the load; it determines the constants of NURand.
            connect: Opens a session for queries; without one, their values are placeholders.
            place: Names the run, target and database; sequences from a number go on in it, and
                values of queries are read in each.

        Raises:
            UsageError: If a query has no usable values, or a bound does not fit its type.
            DatabaseError: If a query fails.
        """
        planned = _Planned(self, scale, seed, connect, place)
        operations = [planned.operation(name) for name in self.file.transactions]
        lasting = {
            name: f"{place}/{name}"
            for name, draw in self.file.draws.items()
            if place and isinstance(draw.sequence, int)
        }
        return {
            "name": self.name,
            "operations": operations,
            "pools": planned.pools,
            "lasting": lasting,
        }


@dataclass
class _Planned:
    planner: Planner
    scale: float
    seed: int
    connect: Connect | None
    place: str = ""
    pools: dict[str, list[pools.Value]] = field(default_factory=dict[str, list[pools.Value]])
    drawn: dict[str, tuple[dict[str, Any], Kind]] = field(
        default_factory=dict[str, tuple[dict[str, Any], Kind]]
    )

    @property
    def file(self) -> File:
        return self.planner.file

    def operation(self, name: str) -> dict[str, Any]:
        transaction = self.file.transactions[name]
        steps = steps_of(name, transaction, self.file)
        drawn = used_draws(steps, self.file.draws)
        inputs = [self.input(draw, draw) for draw in drawn]
        listed: list[dict[str, Any]] = []
        for step in steps:
            for number in range(1, step.repeat + 1):
                again = f"#{number}" if step.repeat > 1 else ""
                own = {each: f"{each}#{step.name}{again}" for each in step.takes if each in drawn}
                if again:
                    inputs += [self.input(draw, alias) for draw, alias in own.items()]
                listed.append(_step(step, again, own if again else {}))
        taken = {each for step in listed for each in step["given"]}
        reads_only = len(listed) == 1 and steps[0].text[""].reads
        begin = not reads_only if transaction.begin is None else transaction.begin
        return {
            "name": name,
            "weight": transaction.weight,
            "thinking_s": seconds(transaction.think),
            "keying_s": seconds(transaction.keying),
            "bare": not begin,
            "waits": not transaction.pipeline,
            "inputs": [each for each in inputs if each["name"] in taken],
            "steps": listed,
        }

    def input(self, name: str, alias: str) -> dict[str, Any]:
        """The driver's input of a draw, under a name."""
        if name not in self.drawn:
            self.drawn[name] = self._draw(name, self.file.draws[name])
        draw, kind = self.drawn[name]
        return {"name": alias, "draw": draw, "kind": kind}

    def _draw(self, name: str, draw: Draw) -> tuple[dict[str, Any], Kind]:
        where = f"draws.{name}"
        asked = None if draw.type is None else kind_of(draw.type, where)
        found: tuple[dict[str, Any], Kind]
        match draw.way:
            case "uniform" | "zipf" | "nurand" as way:
                found = self._number(way, getattr(draw, way), draw, asked, where)
            case "sequence":
                first, _ = self._sequence(name)
                found = {"sequence": {"name": name, "first": first}}, asked or "big_int"
            case "latest":
                first, least = self._sequence(str(draw.latest))
                exponent = draw.exponent or _YCSB_EXPONENT
                of = {"sequence": draw.latest, "first": first, "least": least}
                found = {"latest": {**of, "exponent": exponent}}, asked or "big_int"
            case "letters":
                least, most = _span(draw.letters)
                found = {"letters": {"least": least, "greatest": most}}, "text"
            case "pattern":
                found = {"pattern": draw.pattern}, "text"
            case "constant":
                found = _constant(draw.constant, asked, where)
            case "csv":
                self.pools[name] = list(self.planner.csv[name])
                found = {"pool": name}, asked or "text"
            case _:
                found = self._query(name, draw, asked, where)
        return found

    def _number(
        self,
        way: str,
        span: tuple[int | str, int | str],
        draw: Draw,
        asked: Kind | None,
        where: str,
    ) -> tuple[dict[str, Any], Kind]:
        low, high = (self._bound(bound) for bound in span)
        if low > high:
            raise UsageError(f"{where} has a minimum above its maximum at scale {self.scale:g}.")
        kind = asked or fitting(low, high)
        if isinstance(kind, dict):  # in units of the last digit, like all decimals of the driver
            low, high = (bound * 10 ** kind["decimal"] for bound in (low, high))
            if max(-low, high) >= 2**63:
                raise UsageError(f"{where} draws numbers that do not fit the type {draw.type}.")
        if kind == "int" and fitting(low, high) != "int":
            raise UsageError(f"{where} draws numbers that do not fit the type int; use bigint.")
        found: dict[str, Any] = {"least": low, "greatest": high}
        if way == "zipf":
            found |= {"exponent": draw.exponent or _YCSB_EXPONENT, "scrambled": draw.scrambled}
        if way == "nurand":
            found |= {"a": draw.a, "c": _constant_c(self.seed, where, draw.a or 0)}
        return {way: found}, kind

    def _bound(self, bound: int | str) -> int:
        """A number, or the rows of a table at the scale, as the generator counts them."""
        if isinstance(bound, int):
            return bound
        return max(1, int(self.file.tables[bound].rows * self.scale + 0.5))

    def _sequence(self, name: str) -> tuple[int, int]:
        """The first number of a sequence, and the least number before it."""
        start = self.file.draws[name].sequence
        if isinstance(start, int):
            return start, min(1, start - 1)
        table, first = str(start), self._bound(str(start)) + 1
        if self.connect is not None:
            key = sole_key(self.file, table, f"draws.{name}.sequence")
            with closing(self.connect()) as session:
                # Names of such files are plain lower-case identifiers.
                rows = session.execute(f"SELECT MAX({key}) FROM {table}").rows  # noqa: S608
            first = int(rows[0][0] or 0) + 1
        return first, min(1, first - 1)

    def _query(
        self, name: str, draw: Draw, asked: Kind | None, where: str
    ) -> tuple[dict[str, Any], Kind]:
        key = (self.place, name)
        if key not in self.planner.queried:
            if self.connect is None:
                self.pools[name] = ["" if asked == "text" else 1]
                return {"pool": name}, asked or "int"
            with closing(self.connect()) as session:
                found = pools.of_query(session, str(draw.query), f"{where}.query")
            self.planner.queried[key] = found
        found = self.planner.queried[key]
        kind = asked or pools.kind_of_values(found, f"{where}.query")
        self.pools[name] = pools.literals(found, kind, f"{where}.query")
        return {"pool": name}, kind


def first_of(script: Mapping[str, Any], seed: int, count: int) -> list[dict[str, Any]]:
    """The first transactions of a user, with their values, as the driver draws them.

    Raises:
        UsageError: If the driver refuses the script.
    """
    from dyno import _core

    try:
        return json.loads(_core.preview(json.dumps(script), seed, count))
    except _core.EngineError as error:
        raise UsageError(f"The driver refuses the {error.args[1]}.") from error


def _step(step: Step, again: str, own: Mapping[str, str]) -> dict[str, Any]:
    return {
        "name": f"{step.name}{again}",
        "sql": step.text[""].sql,
        "own": {dialect: [text.sql] for dialect, text in step.text.items() if dialect},
        "given": [own.get(each, each) for each in step.takes],
        "returns": [*step.keeps.values(), REST],
        "keeps": list(step.keeps),
        "rows": list(step.rows) if isinstance(step.rows, tuple) else step.rows,
    }


def _span(length: int | tuple[int, int] | None) -> tuple[int, int]:
    return length if isinstance(length, tuple) else (length or 0, length or 0)


def _constant(
    value: int | str | None, asked: Kind | None, where: str
) -> tuple[dict[str, Any], Kind]:
    if isinstance(value, int):
        kind = asked or fitting(value, value)
        (literal,) = pools.literals([value], kind, where)
        return {"constant": literal}, kind
    kind = asked or "text"
    (literal,) = pools.literals([value], kind, where)
    return {"constant": literal}, kind


def _constant_c(seed: int, where: str, a: int) -> int:
    """The constant C of NURand: random for each load, the same for all its runs."""
    from dyno import _core

    return _core.derive_seed(seed, where, 0, "nurand") % (a + 1)
