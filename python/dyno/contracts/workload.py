"""What a workload consists of, in neutral words; targets translate where they must differ.

Columns and primary keys come from the generator (``dyno._core.schema``), the one place of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from dyno.bundle.model import Check
from dyno.contracts.freshness import Freshness
from dyno.contracts.isolation import Isolation
from dyno.contracts.refresh import Refresh
from dyno.contracts.rule import Difference, Rows, Rule, inferred
from dyno.contracts.target import Connection, Loaded, QueryResult, Spelling, Target, Texts
from dyno.contracts.transactions import NONE, Transactions
from dyno.errors import UsageError
from dyno.safety.messages import without_values


@dataclass(frozen=True)
class Index:
    """A secondary index in the workload's standard physical design."""

    name: str
    table: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class ForeignKey:
    """Each row of ``table`` has one in ``other``, whose key those columns are."""

    table: str
    columns: tuple[str, ...]
    other: str
    other_columns: tuple[str, ...]
    role: str = ""
    """Replaces ``other`` in the name, for a table with several references to another one."""

    @property
    def name(self) -> str:
        """A name that is unique in the workload."""
        return f"{self.table}_to_{self.role or self.other}_fkey"


@dataclass(frozen=True)
class Days:
    """Initial days of generated data that has a history.

    Attributes:
        usual: The number without ``--days``.
        most: The greatest number.
        bytes: Rough raw size of a day at scale 1.
    """

    usual: int
    most: int
    bytes: int


class Range(Protocol):
    """The values of a column."""

    def __call__(self, scale: float, days: int | None = None, /) -> tuple[Any, Any]:
        """The least and the greatest value at a scale, with these or the usual initial days."""
        ...


@dataclass(frozen=True)
class Query:
    """A decision-support query.

    Attributes:
        name: ``q01`` … ``q22``.
        title: A few words for people.
        sql: Neutral SQL with ``{placeholders}`` of parameters.
        rules: The comparison rule of each result column, in order; empty if they follow from an
            answer.
        defaults: The validation parameters at scale 1.
        draw: Substitution parameters for a seed (and scale), as a dict like ``defaults``.
        columns: Names of the result columns, in order.
        order_by: Columns of the ``ORDER BY``; a leading ``-`` means descending. Rows that are
            equal in them may come in any order.
        scaled: Those of the validation parameters that depend on the scale.
        written: Writes the statement with its parameters for the target of a name, whose texts
            begin so; None for neutral SQL, which targets translate.
        least, most: Expected number of rows.
        weight: How often each stream runs it.
        unrecorded: Parameters whose values are not recorded.
    """

    name: str
    title: str
    sql: str
    rules: tuple[Rule, ...]
    defaults: dict[str, Any]
    draw: Callable[[int, float], dict[str, Any]]
    columns: tuple[str, ...] = ()
    order_by: tuple[str, ...] = ()
    scaled: Callable[[float], dict[str, Any]] = field(default=lambda _scale: {})
    written: Callable[[Mapping[str, Any], str, Texts], str] | None = None
    least: int = 0
    most: int | None = None
    unrecorded: frozenset[str] = frozenset()
    weight: int = 1

    def validation(self, scale: float) -> dict[str, Any]:
        """The validation parameters, fitted to a scale: at 1 they are ``defaults``."""
        return {**self.defaults, **self.scaled(scale)}

    def text(self, parameters: dict[str, Any] | None = None) -> str:
        """The SQL with ``parameters`` (the validation ones if None) put in.

        Parameters come from Dyno's own fixed lists and numbers, never from outside.
        """
        if self.written is not None:
            shown = self.validation(1.0) if parameters is None else parameters
            return self.written(shown, "", Texts())
        return self.sql.format(**(self.defaults if parameters is None else parameters))

    def text_for(self, target: Target, workload: str, parameters: dict[str, Any]) -> str:
        """The SQL with ``parameters`` in the words of a target."""
        if self.written is not None:
            texts = target.TEXTS if isinstance(target, Spelling) else Texts()
            return self.written(parameters, target.name, texts)
        return target.sql(workload, self.name, self.text(parameters))

    def execute(self, connection: Connection, statement: str) -> QueryResult:
        """Runs a statement of the query.

        Raises:
            DynoError: If it fails; without values if the user wrote the query, because the message
                is recorded.
        """
        with nullcontext() if self.written is None else without_values():
            return connection.execute(statement)

    def recorded(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters whose values are recorded."""
        return {name: value for name, value in parameters.items() if name not in self.unrecorded}

    def against_rows(self, rows: int) -> str:
        """What is wrong with an answer of that many rows; empty if it is as expected."""
        if self.least <= rows and (self.most is None or rows <= self.most):
            return ""
        span = "" if self.most is None or self.least == self.most else f" to {self.most:,}"
        many = "s"[: rows != 1]
        return f"The query returned {rows:,} row{many}, expected {self.least:,}{span}."

    def of(self, answer: QueryResult) -> Query:
        """The query with the columns and rules of an answer, if it declares none."""
        if self.rules:
            return self
        columns = tuple(answer.columns)
        return replace(self, columns=columns, rules=inferred(len(columns), answer.rows))


@dataclass(frozen=True)
class Workload:
    """A workload.

    Attributes:
        parse_scale: Checks a scale; raises UsageError for ≤ 0, absurd or (where it must be whole)
            fractional ones.
        bytes_per_scale: Rough raw size of the data at scale 1 (with the usual days), to estimate
            the space needed.
        row_bytes: Mean size of a row by table, as a line of a ``.tbl`` file at scale 1. Load rates
            in bytes are of this size, which is the same whatever form a target is sent rows in.
        indexes: Secondary indexes of the standard design.
        queries: Decision-support queries, empty for others.
        order: Query names in the order of a stream (0 = power test), with a seed.
        streams: Query streams of the throughput test at a scale.
        refresh: The refresh functions; None for a workload without.
        check: Proofs on loaded data: ``check(target, connect, loaded, after)`` with the target's
            name, what was loaded, and ``after`` ``load`` or ``run``; it opens its own sessions.
        foreign_keys: References between the tables, for layouts that declare them.
        ranges: Least and greatest value of a column, by table and column, for layouts that spread
            partitions evenly. Only columns that are worth it.
        reference: What an answer (rows, validation parameters) at a scale differs in from the
            published one; None where nothing is published.
        expected: The rows that Dyno ships as the right answer with validation parameters at a
            scale, in canonical text; None where it ships none.
        expected_scales: Where it does.
        expected_seed: Seed of the data that these answers are for; None if they fit any.
        changed: Why loaded data no longer has the answers of its load, of a session and what was
            loaded; the result is None if nothing changed it. None for data that no run changes.
        freshness: How to tell which transactions a query sees; None for data that none change.
        transactions: What the driver runs; of none for decision support.
        usual_scale: The scale of a study that names none.
        isolation: Proofs that transactions are kept apart: ``isolation(target, connect, levels,
            level)``; None for a workload without.
        classes: Queries of a certificate by class, the simplest first; empty for a workload
            without.
        days: Initial days of its data; None for data without a history.
        loads: Whether it has tables that Dyno creates; without, its statements are about tables of
            the user's own.
        record: What the plan of a run records about it.
        tables_digest: Tells tables of one workload file from those that it declared before; empty
            for other workloads.
        changes: Its transactions that change or lock rows of the user's own tables.
        creates: Tables that its setup creates.
        setup: Statements for the target of a name that follow its load: name and SQL.
        prepare: Reads what draws of its queries need from the database, once.
        verifies: Whether ``check`` also follows a run of its queries.
        unproven: Why answers at a scale have nothing to be compared with; empty if they have, or
            if the expected scales tell.
        preview: Lines that show its statements with drawn values, for a scale and a seed.
        given: The word that the user named it by, if that is not its name.
    """

    name: str
    kind: Literal["dss", "oltp"]
    title: str
    notice: str
    bytes_per_scale: int
    parse_scale: Callable[[float], float]
    check: Callable[[str, Callable[[], Connection], Loaded, Literal["load", "run"]], list[Check]]
    row_bytes: Mapping[str, float] = field(default_factory=dict[str, float])
    indexes: tuple[Index, ...] = ()
    queries: tuple[Query, ...] = ()
    order: Callable[[int, int], Sequence[str]] = field(default=lambda _stream, _seed: ())
    foreign_keys: tuple[ForeignKey, ...] = ()
    ranges: Mapping[tuple[str, str], Range] = field(default_factory=dict[tuple[str, str], Range])
    streams: Callable[[float], int] = field(default=lambda _scale: 2)
    refresh: Refresh | None = None
    reference: Callable[[Query, float, Rows], list[Difference] | None] = field(
        default=lambda _query, _scale, _rows: None
    )
    expected: Callable[[Query, float], Rows | None] = field(default=lambda _query, _scale: None)
    expected_scales: tuple[float, ...] = ()
    expected_seed: int | None = None
    changed: Callable[[Connection, Loaded], str | None] | None = None
    freshness: Freshness | None = None
    transactions: Transactions = NONE
    usual_scale: float = 1.0
    isolation: Callable[[str, Callable[[], Connection], Isolation, str], list[Check]] | None = None
    classes: Mapping[str, str] = field(default_factory=dict[str, str])
    days: Days | None = None
    loads: bool = True
    record: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tables_digest: str = ""
    changes: tuple[str, ...] = ()
    creates: tuple[str, ...] = ()
    setup: Callable[[str], Sequence[tuple[str, str]]] = field(default=lambda _target: ())
    prepare: Callable[[Callable[[], Connection]], None] = field(default=lambda _connect: None)
    verifies: bool = False
    unproven: Callable[[float], str] = field(default=lambda _scale: "")
    preview: Callable[[float, int], list[str]] | None = None
    given: str = ""

    @property
    def called(self) -> str:
        """The workload on a command line."""
        return self.given or self.name

    @property
    def operations(self) -> tuple[str, ...]:
        """Names of its transactions, as the driver records them."""
        return tuple(self.transactions.mix)

    @property
    def pass_queries(self) -> int:
        """Queries of one pass of a stream."""
        return sum(query.weight for query in self.queries)

    def parse_days(self, asked: int | None) -> int | None:
        """The initial days of the data; None for a workload without.

        Raises:
            UsageError: If it has none, or the number is out of range.
        """
        if self.days is None:
            if asked is not None:
                raise UsageError(f"The data of {self.name} has no initial days; remove --days.")
            return None
        if asked is not None and not 1 <= asked <= self.days.most:
            raise UsageError(f"--days must be 1 to {self.days.most}, not {asked}.")
        return self.days.usual if asked is None else asked

    def raw_bytes(self, scale: float, days: int | None = None) -> float:
        """Rough raw size of the data at a scale, with these or the usual initial days."""
        more = 0 if self.days is None or days is None else (days - self.days.usual)
        return scale * (self.bytes_per_scale + more * (self.days.bytes if self.days else 0))
