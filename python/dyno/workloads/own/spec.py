"""The strict reader of workload files: names, types and references are checked here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from dyno.config.strict import Strict, parse
from dyno.errors import UsageError
from dyno.workloads.own.fields import NAME, Name, Rows, pair, two
from dyno.workloads.own.forms import Check, Query, Setup

_NUMBERED = re.compile(r".*_[0-9]+")

MOST_REPEATS = 100
MOST_STATEMENTS = 200

Bound = int | str
"""A number, or the name of a table of the file: its number of rows."""
Range = Annotated[tuple[Bound, Bound], BeforeValidator(two)]
Number = int | float
Size = Annotated[int, Field(ge=0, le=65_536)]


class Table(Strict):
    """A table that ``dyno load`` creates and fills.

    Attributes:
        rows: Rows at scale 1.
        key: Columns of the primary key.
        columns: ``TYPE VALUES`` by name, in order.
        indexes: Columns by name of the index.
    """

    rows: Annotated[int, Field(ge=1, le=1_000_000_000)]
    key: list[Name] = []
    columns: Annotated[dict[Name, str], Field(min_length=1, max_length=500)]
    indexes: dict[Name, list[Name]] = {}


class Draw(Strict):
    """A random value: one of its ways, with its parameters.

    Attributes:
        uniform, zipf, nurand: First and last number.
        exponent: Of ``zipf`` and ``latest``.
        scrambled: Whether ``zipf`` spreads the likely numbers over the range by a hash.
        a: The constant A of ``nurand``.
        sequence: The first number, or a table: after its largest key.
        latest: A sequence: Zipf-distributed, back from its last number.
        query: SQL whose rows' first column has the values.
        csv: File whose ``column`` has the values, relative to this file.
        letters: Length of a random text, or least and greatest length.
        pattern: A text in which ``#`` is a digit and ``@`` a letter.
        constant: A fixed value.
        type: ``int``, ``bigint``, ``decimal(S)`` or ``text``; by default what fits.
    """

    uniform: Range | None = None
    zipf: Range | None = None
    nurand: Range | None = None
    sequence: Bound | None = None
    latest: str | None = None
    query: str | None = None
    csv: str | None = None
    letters: Annotated[Size | tuple[Size, Size] | None, BeforeValidator(pair)] = None
    pattern: Annotated[str, Field(max_length=65_536)] | None = None
    constant: int | str | None = None
    exponent: Annotated[float, Field(gt=0, le=100)] | None = None
    scrambled: bool = False
    a: Annotated[int, Field(ge=0)] | None = None
    column: str | None = None
    type: str | None = None

    @property
    def way(self) -> str:
        """The way that is set; see :func:`require_draw`."""
        return next(name for name in WAYS if getattr(self, name) is not None)


WAYS = (
    "uniform", "zipf", "nurand", "sequence", "latest", "query", "csv", "letters", "pattern",
    "constant",
)  # fmt: skip
_WITH = {
    "exponent": ("zipf", "latest"), "scrambled": ("zipf",), "a": ("nurand",), "column": ("csv",),
}  # fmt: skip


class Statement(Strict):
    """A statement of a transaction.

    Attributes:
        sql: SQL with parameters ``:name``.
        keep: ``NAME TYPE`` of the first columns; later statements use the first row's values.
        rows: Rows that it must return or change: a number, or least and greatest.
        repeat: How often it runs, each time with values drawn anew.
        postgres, mysql, sqlite, sqlserver: SQL for this dialect instead.
    """

    name: Name | None = None
    sql: str
    keep: list[str] = []
    rows: Rows = None
    repeat: Annotated[int, Field(ge=1, le=MOST_REPEATS)] = 1
    postgres: str | None = None
    mysql: str | None = None
    sqlite: str | None = None
    sqlserver: str | None = None


DIALECTS = tuple(list(Statement.model_fields)[-4:])


class Transaction(Strict):
    """A transaction.

    Attributes:
        weight: Its share, relative to the others.
        think: Mean think time after it, such as ``100ms``; users think with ``--think``.
        keying: Time before it.
        begin: Whether it runs between BEGIN and COMMIT; by default unless it is one SELECT.
        pipeline: Whether a statement that needs no earlier row is sent without waiting.
    """

    weight: Number = 1
    think: str | None = None
    keying: str | None = None
    begin: bool | None = None
    pipeline: bool = True
    statements: Annotated[list[str | Statement], Field(min_length=1, max_length=MOST_STATEMENTS)]


class File(Strict):
    """A workload: transactions or queries.

    Attributes:
        name: Of its tables; files with the same name share them.
        title: In reports.
        notice: A notice that results carry.
        main: The transaction of the headline metrics; by default the first.
        plural: Its plural in names of metrics.
        retries: How often a transaction is retried after a deadlock or serialisation failure.
    """

    name: Name | None = None
    title: Annotated[str, Field(max_length=100)] | None = None
    notice: Annotated[str, Field(max_length=300)] = ""
    main: Name | None = None
    plural: Name | None = None
    retries: Annotated[int, Field(ge=0, le=1000)] = 10
    tables: dict[Name, Table] = {}
    draws: dict[Name, Draw] = {}
    transactions: Annotated[dict[Name, Transaction], Field(max_length=100)] = {}
    queries: Annotated[list[Query], Field(max_length=100)] = []
    setup: Setup | None = None
    checks: Annotated[list[Check], Field(max_length=1000)] = []


def read(content: str, what: str, stem: str, folder: Path | None = None) -> File:
    """Reads a file.

    Args:
        content: Its text.
        what: Names it in messages.
        stem: Its name if it states none.
        folder: Where the files of its queries are; None without files.

    Raises:
        UsageError: With the first fault, in one line.
    """
    from dyno.workloads.own import beside, reviewed

    found = parse(File, what, content)
    name = found.name or re.sub(r"\W", "_", stem.lower(), flags=re.ASCII)
    if not NAME.fullmatch(name) or _NUMBERED.fullmatch(name):
        raise UsageError(
            f"{what}: name is '{name}'; it must be a lower-case name such as web_shop, without a "
            "number at its end."
        )
    try:
        made = found.model_copy(
            update={"name": name, "queries": beside.queries_of(found.queries, folder)}
        )
        reviewed.review(made)
    except UsageError as error:
        raise UsageError(f"{what}: {error}") from error
    return made


def require_draw(name: str, draw: Draw) -> None:
    """Refuses a draw without exactly one way, or with parameters of another.

    Raises:
        UsageError: With the draw.
    """
    given = [way for way in WAYS if getattr(draw, way) is not None]
    if len(given) != 1:
        many = f"has {' and '.join(given)}" if given else "has no way to draw it"
        raise UsageError(f"draws.{name} {many}; use one of {', '.join(WAYS)}.")
    for word, ways in _WITH.items():
        value: Any = getattr(draw, word)
        if value not in (None, False) and given[0] not in ways:
            raise UsageError(f"draws.{name}.{word} applies to {' and '.join(ways)} only.")
    if draw.way == "csv" and draw.column is None:
        raise UsageError(f"draws.{name}.column is missing: the name of the CSV's column.")
    if draw.way == "nurand" and draw.a is None:
        raise UsageError(f"draws.{name}.a is missing: the constant A of NURand, such as 1023.")
