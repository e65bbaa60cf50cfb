"""A load into a layout that was cut off: it goes on in that layout, from what it has left."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dyno import _core, targets
from dyno.contracts.layout import Layout
from dyno.contracts.target import LoadPlan
from dyno.errors import UsageError
from dyno.layouts.resolve import resolve
from dyno.stages import resume
from dyno.stages.load import loaded
from tests.mariadb import require_mariadb
from tests.targets.conftest import LIMITS, load_only

SCALE = 0.01
INDEXES = {
    "postgresql": "SELECT indexname FROM pg_indexes WHERE schemaname = 'dyno_tpch' "
    "UNION ALL SELECT conname FROM pg_constraint WHERE contype IN ('p', 'f') ORDER BY 1",
    "mysql": "SELECT CONCAT(table_name, '.', index_name, '.', column_name) AS found FROM "
    "information_schema.statistics WHERE table_schema = 'dyno_tpch' AND seq_in_index = 1 "
    "AND table_name NOT LIKE 'dyno%' UNION ALL SELECT constraint_name FROM "
    "information_schema.referential_constraints WHERE constraint_schema = 'dyno_tpch' ORDER BY 1",
    "duckdb": "SELECT index_name FROM duckdb_indexes() UNION ALL SELECT table_name FROM "
    "duckdb_constraints() WHERE constraint_type = 'PRIMARY KEY' ORDER BY 1",
}
CUT_OFF = {
    "postgresql": (
        "ALTER TABLE lineitem DROP CONSTRAINT lineitem_to_partsupp_fkey",
        "ALTER TABLE orders DROP CONSTRAINT orders_pkey",
        "DROP INDEX lineitem_by_l_partkey",
        "CREATE UNIQUE INDEX orders_p1_pkey ON orders_p1 (o_orderkey, o_orderdate)",
    ),
    "mysql": (
        "ALTER TABLE partsupp DROP FOREIGN KEY partsupp_to_part_fkey",
        "ALTER TABLE lineitem DROP INDEX lineitem_by_l_partkey",
        "ALTER TABLE lineitem DROP PRIMARY KEY, DROP INDEX lineitem_pkey, "
        "ADD PRIMARY KEY (l_orderkey, l_linenumber, l_shipdate)",
    ),
    "duckdb": ("DROP INDEX lineitem_by_l_partkey",),
}
"""What makes the end of a load look as if it had not come to it."""


@pytest.fixture(params=["postgresql", "duckdb", "mysql"])
def target(request: pytest.FixtureRequest, out: Path) -> Iterator[Any]:
    if request.param == "postgresql":
        yield request.getfixturevalue("empty_postgres")
        return
    if request.param == "mysql":
        require_mariadb()
    with targets.open_target(targets.parse(f"embedded:{request.param}"), out, LIMITS) as opened:
        yield opened


def layout_for(target: Any, folder: Path) -> Layout:
    text = (
        'indexes = "{}"\n[tables.lineitem]\ncluster = ["l_shipdate"]\n'
        'indexes = [{{ columns = ["l_partkey"] }}]\n'
    ).format("keys" if target.name == "duckdb" else "keys+foreign")
    if target.name != "duckdb":
        text += 'partition = { column = "l_shipdate", count = 2 }\n'
        text += '[tables.orders]\npartition = { column = "o_orderdate", count = 2 }\n'
    file = folder / "mine.toml"
    file.write_text(text, encoding="utf-8")
    return resolve(str(file), "tpch", SCALE)


def rows(target: Any, query: str) -> list[tuple[Any, ...]]:
    with closing(target.connect("tpch")) as session:
        return session.execute(query).rows


def finish(target: Any, layout: Layout) -> None:
    target.index("tpch", threading.Event(), lambda *_: None, layout)


def test_it_goes_on_in_its_layout(target: Any, tmp_path: Path) -> None:
    layout = layout_for(target, tmp_path)
    first = LoadPlan("tpch", SCALE, 1, 2, layout=layout)
    target.create_tables("tpch", replace=False, layout=layout)
    target.mark("tpch", loaded(first))
    load_only(target, first, "orders", "lineitem")

    plan = dataclasses.replace(first, resume=True)
    noted = layout.model_copy(update={"notes": ("two volumes on one device",)})
    assert resume.require(target, dataclasses.replace(plan, layout=noted)).rows > 0
    with pytest.raises(UsageError, match="has layout mine, not default"):
        resume.require(target, dataclasses.replace(plan, layout=None))
    other = layout.model_copy(update={"indexes": "none"})
    with pytest.raises(UsageError, match="another layout mine"):
        resume.require(target, dataclasses.replace(plan, layout=other))

    target.load(plan, _core.Control())
    assert rows(target, "SELECT count(*) FROM lineitem") == [(60_175,)]
    finish(target, layout)
    whole = rows(target, INDEXES[target.name])
    assert len(whole) >= 9
    for statement in CUT_OFF[target.name]:
        rows(target, statement)
    assert rows(target, INDEXES[target.name]) != whole
    finish(target, layout)
    assert rows(target, INDEXES[target.name]) == whole
