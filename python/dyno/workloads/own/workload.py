"""The workload that a file becomes."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

from dyno.bundle import statements
from dyno.bundle.model import Check
from dyno.contracts.databases import OWN
from dyno.contracts.rule import Rows
from dyno.contracts.target import Connection, Loaded
from dyno.contracts.transactions import NONE, Transactions, Work
from dyno.contracts.workload import Query, Workload
from dyno.errors import UsageError
from dyno.workloads.own import checks, pools, preview, queries, querypreview, setup, tables
from dyno.workloads.own.planned import Planner
from dyno.workloads.own.reviewed import seconds
from dyno.workloads.own.source import text_of
from dyno.workloads.own.spec import File
from dyno.workloads.own.steps import steps_of
from dyno.workloads.own.types import kind_of
from dyno.workloads.rows import check_rows, expected_rows

_MOST_INT = (1 << 31) - 1
_MOST_SCALE = 100_000.0


def workload_of(file: File, source: statements.Source, folder: Path, given: str) -> Workload:
    """Makes the workload, and declares its tables.

    Args:
        file: The checked file.
        source: What is recorded of it.
        folder: Where CSV files are relative to.
        given: The word that the user named it by.

    Raises:
        UsageError: If a CSV file is not usable.
    """
    name = f"{OWN}{file.name}"
    file = setup.with_carrier(file)
    planner = Planner(name, file, _csv(file, folder))
    if file.tables:
        tables.declare(name, file)
    asked = queries.made(file, planner)
    driven = NONE if asked else transactions(file, planner)
    drawn = queries.taken(file)
    answers = queries.answers_of(file)

    def expected(query: Query, scale: float) -> Rows | None:
        at, rows = answers.get(query.name, (None, None))
        return rows if at == scale else None

    return Workload(
        name=name,
        kind="dss" if asked else "oltp",
        title=_title(file),
        notice=file.notice,
        bytes_per_scale=round(sum(tables.row_bytes(it) * it.rows for it in file.tables.values())),
        row_bytes={name: tables.row_bytes(table) for name, table in file.tables.items()},
        parse_scale=partial(_fitting, file),
        check=_checker(name, file),
        indexes=tables.indexes(file),
        queries=asked,
        order=queries.order_of(file),
        expected=expected,
        expected_scales=tuple(sorted({at for at, _ in answers.values()})),
        unproven=partial(queries.unproven, file) if asked else lambda _scale: "",
        verifies=any(check.after != "load" for check in file.checks),
        prepare=lambda connect: planner.prepare(connect, drawn),
        creates=tuple(file.setup.creates if file.setup else ()),
        setup=partial(setup.statements, file.setup),
        transactions=driven,
        loads=bool(file.tables),
        tables_digest=tables.digest(file) if file.tables else "",
        given=given,
        changes=() if file.tables else _writing(file),
        preview=partial(querypreview.lines, file, asked) if asked
        else partial(preview.lines, planner),
        record={
            statements.KEY: statements.Recorded(
                file=source.file,
                sha256=source.sha256,
                text=text_of(file, source.text),
                title=_title(file),
                kind="dss" if asked else "oltp",
                mix=dict(driven.mix),
                main=driven.main,
                plural=driven.plural,
                queries={query.name: query.title for query in asked},
                weights={query.name: query.weight for query in asked if query.weight != 1},
                loads=bool(file.tables),
            ).model_dump(mode="json", exclude_defaults=True)
        },
    )  # fmt: skip


def transactions(file: File, planner: Planner) -> Transactions:
    """Its transactions, as the driver runs them."""
    whole = sum(transaction.weight for transaction in file.transactions.values())
    main = file.main or next(iter(file.transactions))

    def params(work: Work) -> dict[str, Any]:
        return planner.plan(work.loaded.scale, work.loaded.seed, work.connect, work.place)

    mix = {name: each.weight / whole for name, each in file.transactions.items()}
    return Transactions(
        main=main,
        plural=file.plural or plural_of(main),
        mix=mix,
        pause_s=sum(
            mix[name] * (seconds(each.keying) + seconds(each.think))
            for name, each in file.transactions.items()
        ),
        kind="script",
        params=params,
        unit="scale unit",
        retries=file.retries,
    )


def plural_of(name: str) -> str:
    """A plural for names of metrics."""
    return f"{name[:-1]}ies" if name.endswith("y") and name[-2:-1] not in "aeiou" else f"{name}s"


def parse_scale(scale: float) -> float:
    """A factor of the tables' rows.

    Raises:
        UsageError: If it is out of range.
    """
    if not (math.isfinite(scale) and 0 < scale <= _MOST_SCALE):
        raise UsageError(
            f"The scale must be above 0 and at most {_MOST_SCALE:,.0f}, not {scale:g}."
        )
    return scale


def _fitting(file: File, scale: float) -> float:
    """A scale at which the types of the columns hold the numbers of the rows.

    Raises:
        UsageError: If one does not, or the scale is out of range.
    """
    parse_scale(scale)
    for name, table in file.tables.items():
        rows = round(table.rows * scale)
        narrow = tables.numbering(table) if rows > _MOST_INT else ()
        if narrow:
            raise UsageError(
                f"At scale {scale:g}, {name} has {rows:,} rows, and {narrow[0]} can number "
                f"{_MOST_INT:,}. Declare it as bigint, or use a smaller --scale."
            )
    return scale


def _writing(file: File) -> tuple[str, ...]:
    """Transactions that do more than read."""
    return tuple(
        name
        for name, transaction in file.transactions.items()
        if not all(
            text.reads for step in steps_of(name, transaction, file) for text in step.text.values()
        )
    )


def _title(file: File) -> str:
    return file.title or str(file.name).replace("_", " ").capitalize()


def _csv(file: File, folder: Path) -> dict[str, list[pools.Value]]:
    found: dict[str, list[pools.Value]] = {}
    for name, draw in file.draws.items():
        if draw.csv is not None:
            kind = kind_of(draw.type or "text", f"draws.{name}")
            path = folder / Path(draw.csv).expanduser()
            found[name] = pools.of_csv(path, str(draw.column), kind, f"draws.{name}")
    return found


def _checker(
    name: str, file: File
) -> Callable[[str, Callable[[], Connection], Loaded, Literal["load", "run"]], list[Check]]:
    def check(
        target: str,
        connect: Callable[[], Connection],
        loaded: Loaded,
        after: Literal["load", "run"],
    ) -> list[Check]:
        """Rows after the load, and the checks of the file."""
        wanted = [each for each in file.checks if each.after in (after, "both")]
        if not wanted and (after == "run" or not file.tables):
            return []
        with contextlib.closing(connect()) as session:
            counted = check_rows(target, session, expected_rows(name, loaded)) \
                if after == "load" and file.tables else []  # fmt: skip
            return [*counted, *(checks.run(target, session, each) for each in wanted)]

    return check
