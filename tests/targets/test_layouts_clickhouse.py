"""Layouts on ClickHouse: partitions, order and keys on request; the rest has a reason."""

from __future__ import annotations

import datetime as dt
import json
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from dyno import _core, targets, workloads
from dyno.bundle.model import Check
from dyno.contracts.layout import Layout
from dyno.contracts.maintenance import prepare
from dyno.contracts.target import Limits, LoadPlan, QueryResult, Target
from dyno.errors import UsageError
from dyno.layouts.resolve import resolve
from dyno.stages.load import loaded
from dyno.targets.clickhouse import queries
from dyno.targets.clickhouse import rows as in_rows
from dyno.targets.clickhouse.target import ClickhouseTarget
from dyno.workloads.answers import compare_engines
from tests.conftest import missing

SCALE = 0.01
LIMITS = Limits(memory_bytes=512 << 20, threads=2)
DAY = dt.timedelta(days=1)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickhouseTarget]:
    if lacks := targets.lacks("clickhouse"):
        missing(lacks)
    url = targets.parse("embedded:clickhouse")
    with targets.open_target(url, tmp_path_factory.mktemp("layouts"), LIMITS) as found:
        assert isinstance(found, ClickhouseTarget)
        yield found


def load(target: Target, layout: Layout | None) -> dict[str, Any]:
    plan = LoadPlan("tpch", SCALE, 1, 2, layout=layout)
    target.create_tables("tpch", replace=True, layout=layout)
    target.load(plan, _core.Control())
    target.mark("tpch", loaded(plan))
    return target.index("tpch", threading.Event(), lambda *_: None, layout)


def preset(name: str) -> Layout:
    return resolve(name, "tpch", SCALE)


def written(folder: Path, text: str) -> Layout:
    file = folder / "mine.toml"
    file.write_text(text, encoding="utf-8")
    return resolve(str(file), "tpch", SCALE)


def rows(target: Target, query: str) -> list[tuple[Any, ...]]:
    with closing(target.connect("tpch")) as session:
        return session.execute(query).rows


def answers(target: Target) -> dict[str, QueryResult]:
    with closing(target.connect("tpch")) as session:
        return {
            query.name: session.execute(
                target.sql("tpch", query.name, query.text(query.validation(SCALE)))
            )
            for query in workloads.get("tpch").queries
        }


def orders(target: Target) -> dict[str, str]:
    found = rows(target, "SELECT name, sorting_key FROM system.tables WHERE database = 'dyno_tpch'")
    return {name: key.strip("()") for name, key in found}


@pytest.fixture(scope="module")
def plain(target: Target) -> dict[str, QueryResult]:
    load(target, None)
    assert rows(target, "SELECT DISTINCT _partition_id FROM lineitem") == [("all",)]
    return answers(target)


PARTS = (
    "SELECT toUInt32(_partition_id) AS part, min(l_shipdate), max(l_shipdate), count() "
    "FROM lineitem GROUP BY part ORDER BY part"
)


@pytest.mark.parametrize("count", [4, 8])
def test_partitions_are_cut_as_the_layout_says_and_answers_stay(
    target: Target, plain: dict[str, QueryResult], count: int
) -> None:
    layout = preset(f"partitioned-{count}")
    steps = load(target, layout)
    assert steps["notes"] == []
    found = rows(target, PARTS)
    assert [row[0] for row in found] == list(range(1, count + 1))
    assert sum(row[3] for row in found) == 60_175
    for (_, least, most, _), part in zip(found, layout.design("lineitem").partitions, strict=True):
        assert part.low is None or least >= dt.date.fromisoformat(part.low)
        assert part.high is None or most < dt.date.fromisoformat(part.high)
    assert layout == Layout(**json.loads(target.loaded("tpch").layout))  # pyright: ignore

    # One part a partition, and nothing of what was merged.
    listed = "SELECT active, count() FROM system.parts WHERE table = 'lineitem' GROUP BY active"
    assert rows(target, listed) == [(1, count)]
    merges = {step["table"]: step for step in steps["space"]}
    assert {step["kind"] for step in steps["space"]} == {"merge"}
    assert len(merges) == 8
    line = merges["lineitem"]
    assert line["moved_bytes"] == line["table_bytes"] > 1_000_000
    assert line["extra_peak_bytes"] >= max(0, line["extra_rest_bytes"])
    assert line["seconds"] > 0

    # A day lies in one partition, and the others are left out.
    one = "SELECT count() FROM lineitem WHERE l_shipdate = DATE '1992-02-01' AND l_tax >= 0"
    plan = "\n".join(line for (line,) in rows(target, f"EXPLAIN indexes = 1 {one}"))
    assert f"Parts: 1/{count}" in plan, plan

    now = answers(target)
    for query in workloads.get("tpch").queries:
        assert compare_engines(plain[query.name].rows, now[query.name].rows, query.rules) == []


def test_a_bound_belongs_to_the_side_that_is_asked(target: Target, tmp_path: Path) -> None:
    day = dt.date(1995, 1, 31)
    text = (
        '[tables.lineitem.partition]\ncolumn = "l_shipdate"\n'
        'bounds = ["1995-01-31", "1996-12-31"]\nside = "{side}"'
    )
    ends: dict[str, dt.date] = {}
    for side in ("right", "left"):
        load(target, written(tmp_path, text.format(side=side)))
        (first, second, third) = rows(target, PARTS)
        ends[side] = second[1]
        assert first[2] < second[1] <= second[2] < third[1]
        assert sum(row[3] for row in (first, second, third)) == 60_175
    assert ends == {"right": day, "left": day + DAY}


def test_partitions_of_other_types_and_more_than_an_insert_may_reach(
    target: Target, tmp_path: Path
) -> None:
    load(
        target,
        written(
            tmp_path,
            '[tables.partsupp.partition]\ncolumn = "ps_supplycost"\nbounds = ["12.50", "500"]\n'
            '[tables.part.partition]\ncolumn = "p_partkey"\ncount = 150',
        ),
    )
    found = rows(
        target,
        "SELECT _partition_id AS part, min(ps_supplycost) < 12.5, min(ps_supplycost) < 500 "
        "FROM partsupp GROUP BY part ORDER BY part",
    )
    assert [tuple(map(int, row)) for row in found] == [(1, 1, 1), (2, 0, 1), (3, 0, 0)]
    assert rows(target, "SELECT uniqExact(_partition_id), count() FROM part") == [(150, 2000)]


def test_order_and_keys_on_request(target: Target, tmp_path: Path) -> None:
    steps = load(target, preset("clustered"))
    assert orders(target)["lineitem"] == "l_shipdate"
    assert orders(target)["orders"] == "o_orderkey"
    assert "no index on its primary key" in steps["notes"][0]
    falls = (
        "SELECT countIf(d < before) FROM (SELECT l_shipdate AS d, "
        "lagInFrame(l_shipdate) OVER (ORDER BY _part_offset) AS before FROM lineitem)"
    )
    assert rows(target, falls) == [(0,)]
    load(target, preset("bare"))
    assert set(orders(target).values()) == {""}
    assert rows(target, "SELECT count() FROM lineitem") == [(60_175,)]
    steps = load(target, preset("keys"))
    assert orders(target)["lineitem"] == "l_orderkey, l_linenumber"
    assert "does not enforce" in steps["notes"][0]
    load(target, preset("columnar"))
    assert orders(target)["lineitem"] == "l_orderkey, l_linenumber"
    forms = "SELECT DISTINCT engine FROM system.tables WHERE database = 'dyno_tpch'"
    assert rows(target, forms) == [("MergeTree",)]

    both = written(tmp_path, 'indexes = "keys"\n[tables.lineitem]\ncluster = ["l_shipdate"]')
    with pytest.raises(UsageError, match="one sort order per table"):
        target.create_tables("tpch", replace=True, layout=both)
    assert rows(target, "SELECT count() FROM lineitem") == [(60_175,)]  # nothing was touched


def forms(target: Target) -> dict[str, str]:
    found = rows(target, "SELECT name, engine FROM system.tables WHERE database = 'dyno_tpch'")
    return {str(name): str(engine) for name, engine in found}


def check(target: Target) -> dict[str, Check]:
    with closing(prepare(target, "tpch", "integrity-check")) as job:
        found = job.run(threading.Event(), lambda *_: None)
    return {one.name.removeprefix("integrity-check "): one for one in found}


@pytest.mark.parametrize(
    ("name", "columns"),
    [("rows", set()), ("columnar-1", {"lineitem"}), ("columnar-2", {"lineitem", "orders"})],
)
def test_tables_in_rows_have_the_same_answers(
    target: ClickhouseTarget, plain: dict[str, QueryResult], name: str, columns: set[str]
) -> None:
    steps = load(target, preset(name))
    assert {table for table, engine in forms(target).items() if engine == "MergeTree"} == columns
    assert {step["table"] for step in steps["space"]} == columns
    assert "no index" in steps["notes"][0]
    now = answers(target)
    for query in workloads.get("tpch").queries:
        assert compare_engines(plain[query.name].rows, now[query.name].rows, query.rules) == []
    found = check(target)
    assert len(found) == 8
    assert all(one.passed for one in found.values())
    assert "60,175 rows" in found["lineitem"].message or "lineitem" in columns
    assert target.data_bytes("tpch") > 2_000_000


def test_a_file_of_rows_holds_whole_rows_and_its_damage_is_found(
    target: ClickhouseTarget,
) -> None:
    """A query of one column reads all of them; the file is as long as what is read."""
    load(target, preset("rows"))
    with closing(target.connect("tpch")) as session:
        files = in_rows.files(session, "tpch")
        meter = target.meter(session)
        read: dict[str, int | None] = {}
        for text in ("sum(l_linenumber)", "sum(cityHash64(*))"):
            meter.before()
            session.execute(f"SELECT {text} FROM lineitem")
            read[text] = meter.after().bytes_read
    size = files["lineitem"].stat().st_size
    assert set(read.values()) == {size}
    assert target.data_bytes("tpch") >= size > 5_000_000

    files["part"].unlink()
    content = files["orders"].read_bytes()
    files["orders"].write_bytes(content[: len(content) - 5])
    found = check(target)
    assert {name for name, one in found.items() if not one.passed} == {"orders", "part"}


JOINS = {
    # customer has a condition on nation before, but orders has its key, and adds no rows.
    "q05": "lineitem, supplier, nation, region, orders, customer",
    "q08": "lineitem, supplier, supplier_nation, part, orders, customer, customer_nation, region",
    "q09": "lineitem, supplier, nation, part, partsupp, orders",
    "q18": "lineitem, orders, customer",
}


@pytest.mark.parametrize("name", sorted(JOINS))
def test_tables_in_rows_are_joined_in_one_order(name: str) -> None:
    (query,) = (one for one in workloads.get("tpch").queries if one.name == name)
    text = queries.in_order(query.text(query.validation(SCALE)), "tpch")
    tree = sqlglot.parse_one(text, read="clickhouse")
    joined = [
        [select.args["from_"].this, *(join.this for join in select.args["joins"])]
        for select in tree.find_all(exp.Select)
        if select.args.get("joins")
    ]
    assert [", ".join(table.alias_or_name for table in tables) for tables in joined] == [
        JOINS[name]
    ]


def test_explicit_joins_keep_their_order() -> None:
    (query,) = (one for one in workloads.get("tpch").queries if one.name == "q13")
    neutral = query.text(query.validation(SCALE))
    assert "customer" in queries.in_order(neutral, "tpch").partition("JOIN")[0]


def test_rows_have_no_key_order_or_partitions(target: Target, tmp_path: Path) -> None:
    load(target, None)
    for text, what in (
        ('indexes = "keys"\n[tables.part]\nform = "row"', "a primary key"),
        ('[tables.part]\nform = "row"\ncluster = ["p_size"]', "a cluster key"),
        (
            '[tables.part]\nform = "row"\npartition = { column = "p_partkey", count = 2 }',
            "partitions",
        ),
    ):
        with pytest.raises(UsageError, match=f"part cannot have {what} in row form"):
            target.create_tables("tpch", replace=True, layout=written(tmp_path, text))
    assert rows(target, "SELECT count() FROM lineitem") == [(60_175,)]  # nothing was touched
    load(target, written(tmp_path, 'indexes = "none"\nform = "row"'))
    assert set(forms(target).values()) == {"File"}


def test_partitions_by_time_and_an_order_with_nulls(target: Target, tmp_path: Path) -> None:
    file = tmp_path / "tpcc.toml"
    file.write_text(
        '[tables.orders]\ncluster = ["o_carrier_id", "o_id"]\n'
        'partition = { column = "o_entry_d", bounds = ["2020-01-01T12:00:00"], side = "left" }'
    )
    target.create_tables("tpcc", replace=True, layout=resolve(str(file), "tpcc", 1))
    with closing(target.connect("tpcc")) as session:
        for number, (time, carrier) in enumerate(
            [("11:59:59", 3), ("12:00:00", None), ("12:00:00.000001", None), ("13:00:00", 1)]
        ):
            session.execute(
                "INSERT INTO orders (o_w_id, o_d_id, o_id, o_entry_d, o_carrier_id) "
                f"VALUES (1, 1, {number}, '2020-01-01 {time}', {carrier or 'NULL'})"
            )
        session.execute("OPTIMIZE TABLE orders FINAL")
        found = session.execute(
            "SELECT _partition_id, o_id, o_carrier_id FROM orders "
            "ORDER BY _partition_id, _part_offset"
        ).rows
        session.execute("DROP DATABASE dyno_tpcc SYNC")
    assert found == [("1", 0, 3), ("1", 1, None), ("2", 3, 1), ("2", 2, None)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('indexes = "keys+foreign"', "no foreign keys"),
        ('[tables.part]\nindexes = [{ columns = ["p_size"] }]', "no row indexes"),
        ('[volumes]\ndata = "/tmp"', "one directory, set in the target URL"),
        ('[volumes]\nlog = "/tmp"', "no write-ahead log"),
        ('[volumes]\ntemp = "/tmp"', "spills to `tmp`"),
        ("preallocate_gb = 1.0", "new files for each part"),
    ],
)
def test_what_it_cannot_do_has_a_reason(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(
        UsageError, match=rf"The clickhouse target does not support layout .*{reason}"
    ):
        targets.require_layout(targets.parse("embedded:clickhouse"), written(tmp_path, text))
