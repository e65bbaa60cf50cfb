"""Layouts on SQLite: sets of keys, tables stored by columns, references; the rest has a reason."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dyno import _core, targets, workloads
from dyno.contracts.layout import Layout
from dyno.contracts.target import LoadPlan, QueryResult, Target
from dyno.errors import DatabaseError, TargetError, UsageError
from dyno.layouts.resolve import resolve
from dyno.stages.load import loaded
from dyno.workloads.answers import compare_engines
from tests.process import end, start, wait_for_phase
from tests.targets.conftest import LIMITS

SCALE = 0.01


def opened(folder: Path) -> Target:
    return targets.open_target(targets.parse("embedded:sqlite"), folder, LIMITS)


def load(
    target: Target, layout: Layout | None, workload: str = "tpch", *, replace: bool = False
) -> dict[str, Any]:
    scale = SCALE if workload == "tpch" else 1
    plan = LoadPlan(workload, scale, 1, 2, layout=layout)
    target.create_tables(workload, replace=replace, layout=layout)
    target.load(plan, _core.Control())
    target.mark(workload, loaded(plan))
    return target.index(workload, threading.Event(), lambda *_: None, layout)


def rows(target: Target, query: str, workload: str = "tpch") -> list[tuple[Any, ...]]:
    with closing(target.connect(workload)) as session:
        return session.execute(query).rows


def written(folder: Path, text: str, workload: str = "tpch") -> Layout:
    file = folder / "mine.toml"
    file.write_text(text, encoding="utf-8")
    return resolve(str(file), workload, SCALE if workload == "tpch" else 1)


def answers(target: Target) -> list[QueryResult]:
    with closing(target.connect("tpch")) as session:
        return [
            session.execute(target.sql("tpch", query.name, query.text(query.validation(SCALE))))
            for query in workloads.get("tpch").queries
        ]


INDEXES = "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY 1"
COMPOSITE = {"dyno_lineitem_pkey", "dyno_partsupp_pkey"}
SECONDARY = {f"dyno_{index.name}" for index in workloads.get("tpch").indexes}


@pytest.mark.parametrize(
    ("name", "expected", "kinds"),
    [
        ("bare", set[str](), {"analyse", "checkpoint"}),
        ("keys", COMPOSITE, {"primary key", "analyse", "checkpoint"}),
        ("keys-foreign", COMPOSITE, {"primary key", "foreign key", "analyse", "checkpoint"}),
        ("default", COMPOSITE | SECONDARY, {"primary key", "index", "analyse", "checkpoint"}),
    ],
)
def test_index_sets(out: Path, name: str, expected: set[str], kinds: set[str]) -> None:
    with opened(out) as target:
        done = load(target, resolve(name, "tpch", SCALE))
        assert {row[0] for row in rows(target, INDEXES)} == expected
        assert {step["kind"] for step in done["space"]} == kinds
        for step in done["space"]:
            assert step["extra_peak_bytes"] is not None
            if step["kind"] in {"primary key", "index"}:
                assert step["extra_peak_bytes"] >= step["extra_rest_bytes"] > 0
        (text,) = rows(target, "SELECT sql FROM sqlite_master WHERE name = 'orders'")
        assert ("PRIMARY KEY" in text[0]) == (name != "bare")
        assert rows(target, "SELECT count(*) FROM lineitem") == [(60_175,)]
        state = target.loaded("tpch")
        assert state is not None
        # Loaded again in another design: nothing of the first stays.
        load(target, None, replace=True)
        assert {row[0] for row in rows(target, INDEXES)} == COMPOSITE | SECONDARY


def test_a_clustered_table_is_stored_by_its_columns(out: Path, tmp_path: Path) -> None:
    layout = written(
        tmp_path,
        'indexes = "default+foreign"\n'
        "[tables.lineitem]\ncluster = ['l_shipdate']\nindexes = [{ columns = ['l_suppkey'] }]\n"
        "[tables.orders]\ncluster = ['o_orderdate']\n"
        "[tables.partsupp]\ncluster = ['ps_partkey']\n"
        "[tables.customer]\ncluster = ['c_custkey']\n",
    )
    with opened(out) as target:
        load(target, None)
        plain = answers(target)
        done = load(target, layout, replace=True)
        steps = [(step["kind"], step["table"]) for step in done["space"]]
        # Rows of partsupp and customer come in the order of their keys.
        assert [table for kind, table in steps if kind == "cluster"] == ["orders", "lineitem"]
        texts = dict(rows(target, "SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
        for name, key in (
            ("lineitem", '"l_shipdate", "l_orderkey", "l_linenumber"'),
            ("orders", '"o_orderdate", "o_orderkey"'),
            ("partsupp", '"ps_partkey", "ps_suppkey"'),
        ):
            assert texts[name].startswith(f'CREATE TABLE "{name}" /* dyno:tpch */')
            assert f"PRIMARY KEY ({key})" in texts[name]
            assert texts[name].endswith("WITHOUT ROWID")
        assert '"c_custkey" INTEGER PRIMARY KEY' in texts["customer"]
        assert "WITHOUT" not in texts["customer"]
        assert not [name for name in texts if name.startswith("dyno_cluster")]
        names = {row[0] for row in rows(target, INDEXES) if row[0].startswith("dyno_")}
        keys = {"dyno_lineitem_pkey", "dyno_orders_pkey"}
        assert names == keys | SECONDARY | {"dyno_lineitem_by_l_suppkey"}
        plan = rows(
            target, "EXPLAIN QUERY PLAN SELECT * FROM lineitem WHERE l_shipdate < '1992-02-01'"
        )
        assert "USING PRIMARY KEY (l_shipdate<?)" in plan[0][3]
        assert rows(target, "PRAGMA foreign_key_check") == []
        assert rows(target, "PRAGMA integrity_check") == [("ok",)]
        for query, one, other in zip(
            workloads.get("tpch").queries, plain, answers(target), strict=True
        ):
            assert compare_engines(one.rows, other.rows, query.rules) == [], query.name
        (cluster,) = [step for step in done["space"] if step["step"] == "cluster lineitem"]
        assert cluster["extra_peak_bytes"] > 5_000_000
        load(target, None, replace=True)
        assert rows(target, "SELECT count(*) FROM lineitem") == [(60_175,)]


@pytest.mark.long
def test_a_kill_while_rows_are_sorted_leaves_all_or_none_of_it(out: Path) -> None:
    process = start(
        "load", "tpch", "--target", "embedded:sqlite", "--scale", "0.1", "--layout", "clustered",
        "--out", out,
    )  # fmt: skip
    wait_for_phase(process, out, "index-tpch")
    os.kill(process.pid, signal.SIGKILL)
    assert end(process)[0] == -signal.SIGKILL
    with opened(out) as target:
        assert rows(target, "SELECT count(*) FROM lineitem") == [(600_572,)]
        tables = [row[0] for row in rows(target, "SELECT name FROM sqlite_master")]
        assert not [name for name in tables if name.startswith("dyno_cluster")]
        state = target.loaded("tpch")
        assert state is not None
        assert not state.complete
        load(target, None, replace=True)
        assert rows(target, "SELECT count(*) FROM lineitem") == [(60_175,)]


def test_references_are_checked_in_every_session(out: Path) -> None:
    with opened(out) as target:
        load(target, resolve("keys-foreign", "tpch", SCALE))
        with pytest.raises(DatabaseError, match="FOREIGN KEY"):
            rows(target, "UPDATE nation SET n_regionkey = 99")
        with pytest.raises(DatabaseError, match="FOREIGN KEY"):
            rows(target, "DELETE FROM orders WHERE o_orderkey = 1")
        with closing(target.connect("tpch")) as session:
            session.execute("PRAGMA foreign_keys = OFF")
            session.execute("UPDATE nation SET n_regionkey = 99 WHERE n_nationkey = 3")
        with pytest.raises(TargetError, match=r"1 rows of nation violate a foreign key, .* region"):
            target.index(
                "tpch",
                threading.Event(),
                lambda *_: None,
                resolve("keys-foreign", "tpch", SCALE),
            )


def test_the_transaction_tables_have_layouts_too(out: Path, tmp_path: Path) -> None:
    text = 'indexes = "keys+foreign"\n[tables.stock]\ncluster = ["s_i_id"]'
    with opened(out) as target:
        load(target, written(tmp_path, text, "tpcc"), "tpcc")
        assert rows(target, "PRAGMA integrity_check", "tpcc") == [("ok",)]
        assert rows(target, "SELECT count(*) FROM stock", "tpcc") == [(100_000,)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            '[tables.part]\npartition = { column = "p_partkey", count = 4 }',
            "has no table partitions",
        ),
        ('form = "column"', "no column format"),
        ('[volumes]\ndata = "/tmp"', "one file, set in the target URL"),
        ('[volumes]\nlog = "/tmp"', "log is next to its file"),
        ('[volumes]\ntemp = "/tmp"', "--set temp_path=FOLDER"),
        ("preallocate_gb = 1.0", "grows its file"),
    ],
)
def test_what_it_cannot_do_has_a_reason(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=rf"The sqlite target does not support layout .*{reason}"):
        targets.require_layout(targets.parse("embedded:sqlite"), written(tmp_path, text))


@pytest.mark.parametrize(
    ("workload", "text", "reason"),
    [
        ("tpch", 'indexes = "none"\n[tables.part]\ncluster = ["p_name"]', "without keys"),
        ("tpcc", '[tables.history]\ncluster = ["h_date"]', "without a primary key"),
        ("tpcc", '[tables.orders]\ncluster = ["o_carrier_id"]', "a nullable column"),
    ],
)
def test_what_a_table_cannot_be_stored_by_is_refused_untouched(
    out: Path, tmp_path: Path, workload: str, text: str, reason: str
) -> None:
    with opened(out) as target:
        with pytest.raises(UsageError, match=reason):
            target.create_tables(workload, replace=False, layout=written(tmp_path, text, workload))
        assert target.loaded(workload) is None
