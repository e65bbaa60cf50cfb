"""Layouts on a real MariaDB: what was asked for is there, and goes again without a trace."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dyno import _core, targets, workloads
from dyno.contracts.layout import Layout
from dyno.contracts.target import LoadPlan, QueryResult
from dyno.errors import TargetError, UsageError
from dyno.layouts.resolve import resolve
from dyno.stages.load import loaded
from dyno.targets.mysql.layout import parts
from dyno.targets.mysql.target import MysqlTarget
from dyno.workloads.answers import compare_engines
from tests.targets.conftest import embedded_mariadb
from tests.targets.test_layouts_postgresql import SCALE, written
from tests.targets.test_mysql import at


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MysqlTarget]:
    """A running server that tests may fill but not break."""
    with embedded_mariadb(tmp_path_factory.mktemp("my")) as target:
        yield target


@pytest.fixture
def server(mariadb: MysqlTarget) -> Iterator[MysqlTarget]:
    yield mariadb
    with closing(mariadb.connect()) as session:
        for name in ("dyno_tpch", "dyno_tpcc"):
            session.execute(f"DROP DATABASE IF EXISTS {name}")


def rows(target: MysqlTarget, query: str) -> list[tuple[Any, ...]]:
    with closing(target.connect("tpch")) as session:
        return session.execute(query).rows


def create(target: MysqlTarget, layout: Layout | None, *, replace: bool = False) -> None:
    target.create_tables("tpch", replace=replace, layout=layout)


def index(target: MysqlTarget, layout: Layout | None) -> dict[str, Any]:
    return target.index("tpch", threading.Event(), lambda *_: None, layout)


def fill(target: MysqlTarget, layout: Layout | None) -> dict[str, Any]:
    plan = LoadPlan("tpch", SCALE, 1, 2, layout=layout)
    create(target, layout, replace=True)
    target.mark("tpch", loaded(plan))
    target.load(plan, _core.Control())
    return index(target, layout)


def key_of(target: MysqlTarget, table: str, name: str = "PRIMARY") -> list[str]:
    found = rows(
        target,
        "SELECT column_name FROM information_schema.statistics WHERE table_schema = 'dyno_tpch' "
        f"AND table_name = '{table}' AND index_name = '{name}' ORDER BY seq_in_index",
    )
    return [row[0] for row in found]


def answers(target: MysqlTarget) -> list[QueryResult]:
    with closing(target.connect("tpch")) as session:
        return [
            session.execute(target.sql("tpch", query.name, query.text(query.validation(SCALE))))
            for query in workloads.get("tpch").queries
        ]


@pytest.mark.long
@pytest.mark.parametrize(("name", "count"), [("partitioned-4", 4), ("partitioned-8", 8)])
def test_partitions_hold_their_ranges_and_answer_alike(
    server: MysqlTarget, name: str, count: int
) -> None:
    fill(server, None)
    plain = answers(server)
    layout = resolve(name, "tpch", SCALE)
    steps = fill(server, layout)
    design = layout.design("lineitem")
    assert len(design.partitions) == count
    total = 0
    for part in design.partitions:
        low, high, number = rows(
            server,
            "SELECT CAST(MIN(l_shipdate) AS CHAR), CAST(MAX(l_shipdate) AS CHAR), COUNT(*) "
            f"FROM lineitem PARTITION ({part.name})",
        )[0]
        assert part.low is None or part.low <= low
        assert part.high is None or high < part.high
        assert number > 0
        total += number
    assert total == 60_175
    assert key_of(server, "lineitem") == ["l_orderkey", "l_linenumber", "l_shipdate"]
    assert any("no longer enforces (l_orderkey, l_linenumber)" in note for note in steps["notes"])
    # A range of dates is looked for in its partitions only.
    plan = rows(server, "EXPLAIN PARTITIONS SELECT * FROM lineitem WHERE l_shipdate < '1992-03-01'")
    assert plan[0][3] == "lineitem_p1"
    for query, one, other in zip(
        workloads.get("tpch").queries, plain, answers(server), strict=True
    ):
        assert compare_engines(one.rows, other.rows, query.rules) == [], query.name
    found = server.loaded("tpch")
    assert found is not None
    assert Layout.model_validate_json(found.layout) == layout


def test_sides_clustering_and_further_indexes(server: MysqlTarget, tmp_path: Path) -> None:
    layout = written(
        tmp_path,
        '[tables.lineitem]\ncluster = ["l_suppkey"]\n'
        'partition = { column = "l_shipdate", bounds = ["1994-01-01", "1996-01-01"], '
        'side = "left" }\n'
        '[tables.orders]\ncluster = ["o_orderdate"]\nindexes = [{ columns = ["o_totalprice"] }]\n'
        '[tables.part]\ncluster = ["p_partkey"]',
    )
    steps = fill(server, layout)
    # side = "left": the bound is the greatest value of the partition on its left.
    ends = [
        rows(server, f"SELECT CAST(MAX(l_shipdate) AS CHAR) FROM lineitem PARTITION ({name})")
        for name in ("lineitem_p1", "lineitem_p2")
    ]
    assert ends == [[("1994-01-01",)], [("1996-01-01",)]]
    assert key_of(server, "lineitem") == ["l_suppkey", "l_orderkey", "l_linenumber", "l_shipdate"]
    assert key_of(server, "lineitem", "lineitem_pkey") == ["l_orderkey", "l_linenumber"]
    assert key_of(server, "orders") == ["o_orderdate", "o_orderkey"]
    assert key_of(server, "orders", "orders_by_o_totalprice") == ["o_totalprice"]
    unique = (
        "SELECT table_name, non_unique FROM information_schema.statistics WHERE seq_in_index = 1 "
        "AND table_schema = 'dyno_tpch' AND index_name LIKE '%\\\\_pkey' ORDER BY 1"
    )
    assert rows(server, unique) == [("lineitem", 1), ("orders", 0)]
    # A scan gives the rows as they lie.
    dates = [row[0] for row in rows(server, "SELECT o_orderdate FROM orders FORCE INDEX (PRIMARY)")]
    assert dates == sorted(dates)
    notes = " ".join(steps["notes"])
    assert "orders is (o_orderdate, o_orderkey), InnoDB's sort order; the unique" in notes
    assert "lineitem is (l_suppkey, l_orderkey, l_linenumber, l_shipdate)" in notes
    assert "primary key of part already sorts its rows by p_partkey" in notes
    with (
        pytest.raises(TargetError, match="Duplicate entry"),
        closing(server.connect("tpch")) as session,
    ):
        session.execute("UPDATE orders SET o_orderkey = 1 WHERE o_orderkey = 2")

    space = {step["step"]: step for step in steps["space"]}
    clustered = space["cluster orders"]
    assert clustered["gb_per_h"] > 0
    assert clustered["extra_peak_bytes"] > 1_000_000  # a second copy of the rows
    built = next(step for name, step in space.items() if name.startswith("index ")
                 and step["table"] == "orders")  # fmt: skip
    assert built["extra_peak_bytes"] >= built["extra_rest_bytes"] > 0
    assert {"index", "cluster", "analyse"} == {step["kind"] for step in steps["space"]}
    assert all(step["seconds"] >= 0 for step in steps["space"])
    # Done again, as after a kill, nothing is left to do but statistics.
    again = index(server, layout)
    assert {step["kind"] for step in again["space"]} == {"analyse"}


def test_a_layout_of_nothing_is_todays_design(server: MysqlTarget) -> None:
    def catalogue() -> list[tuple[Any, ...]]:
        return [rows(server, f"SHOW CREATE TABLE {name}")[0] for name in ("lineitem", "orders")]

    create(server, None)
    index(server, None)
    plain = catalogue()
    create(server, resolve("default", "tpch", SCALE), replace=True)
    steps = index(server, resolve("default", "tpch", SCALE))
    assert catalogue() == plain
    assert steps["notes"] == []


@pytest.mark.parametrize(
    ("name", "keys", "foreign", "secondary"),
    [("bare", 0, 0, 0), ("keys", 8, 0, 0), ("keys-foreign", 8, 8, None)],
)
def test_index_sets(
    server: MysqlTarget, name: str, keys: int, foreign: int, secondary: int | None
) -> None:
    layout = resolve(name, "tpch", SCALE)
    steps = fill(server, layout)
    count = (
        "SELECT COALESCE(SUM(constraint_type = 'PRIMARY KEY'), 0), "
        "COALESCE(SUM(constraint_type = 'FOREIGN KEY'), 0) "
        "FROM information_schema.table_constraints "
        "WHERE table_schema = 'dyno_tpch' AND table_name NOT LIKE 'dyno%'"
    )
    assert rows(server, count) == [(keys, foreign)]
    others = (
        "SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = 'dyno_tpch' "
        "AND index_name <> 'PRIMARY'"
    )
    if secondary is not None:
        assert rows(server, others) == [(secondary,)]
    if foreign:
        with pytest.raises(TargetError, match="foreign key constraint fails"):
            rows(server, "UPDATE lineitem SET l_orderkey = 7000000 WHERE l_orderkey = 1")
        assert any("an index for each foreign key" in note for note in steps["notes"])
        again = index(server, layout)
        assert {step["kind"] for step in again["space"]} == {"analyse"}
    if not keys:
        assert any("hidden row id" in note for note in steps["notes"])
    create(server, None, replace=True)  # foreign keys do not hinder the replacement
    assert rows(server, "SHOW TABLES LIKE 'dyno\\\\_layout'") == []


def test_foreign_keys_of_partitioned_tables_are_left_out_with_the_reason(
    server: MysqlTarget, tmp_path: Path
) -> None:
    layout = written(
        tmp_path,
        'indexes = "keys+foreign"\n[tables.orders]\n'
        'partition = { column = "o_orderdate", count = 2 }',
    )
    steps = fill(server, layout)
    notes = [note for note in steps["notes"] if note.startswith("No foreign key")]
    assert len(notes) == 2
    assert "from lineitem to orders" in " ".join(notes)
    assert "from orders to customer" in " ".join(notes)
    assert sum(step["kind"] == "foreign key" for step in steps["space"]) >= 4


@pytest.mark.long
def test_volumes_hold_tables_log_and_spilled_data(public_out: Path) -> None:
    volumes = [public_out / name for name in ("a", "b", "log")]
    for volume in volumes:
        volume.mkdir(mode=0o755)
        volume.chmod(0o755)
    layout = written(
        public_out,
        f'indexes = "default"\n[volumes]\ntemp = "{volumes[1]}"\nlog = "{volumes[2]}"\n'
        '[tables.lineitem]\npartition = { column = "l_shipdate", count = 2, '
        f'volumes = ["{volumes[0]}", "{volumes[1]}"] }}\n'
        f'[tables.orders]\nvolume = "{volumes[0]}"\ncluster = ["o_orderdate"]',
    )
    out = public_out / "out"
    target = embedded_mariadb(out)
    data = out / "engines" / "mysql" / "data"
    target.before_start(layout)
    with target:
        fill(target, layout)
        files = {
            name: sorted(path.name for path in volume.rglob("*.ibd"))
            for name, volume in zip("ab", volumes[:2], strict=True)
        }
        assert files == {
            "a": ["lineitem#P#lineitem_p1.ibd", "orders.ibd"],
            "b": ["lineitem#P#lineitem_p2.ibd"],
        }
        assert not list((data / "dyno_tpch").glob("lineitem*.ibd"))
        assert [path.name for path in volumes[2].rglob("ib_logfile*")] == ["ib_logfile0"]
        assert not list(data.glob("ib_logfile*"))
        settings = target.facts().settings
        assert settings["tmpdir"].startswith(str(volumes[1]))
        assert {path.parent for path in target.data_paths()[1:]} == set(volumes)
        assert target.deviations(layout) == []
        probe = target.space_probe()
        assert probe is not None
        there = sum(file.stat().st_blocks * 512 for file in volumes[0].rglob("*.ibd"))
        assert probe[0]() > there > 1_000_000
        lines = "SELECT COUNT(*), SUM(l_quantity) FROM lineitem"
        before = rows(target, lines)
    with embedded_mariadb(out) as later:  # which knows nothing of the layout
        assert rows(later, lines) == before
        assert later.facts().settings["tmpdir"].startswith(str(volumes[1]))
        # Cold: the places on volumes are emptied too.
        assert later.cool().left_share <= 0.01
        assert rows(later, lines) == before
    again = embedded_mariadb(out)
    again.before_start(resolve("default", "tpch", SCALE))
    with again:
        assert list(data.glob("ib_logfile*"))
        assert again.deviations(layout) == [
            f"The log is no longer on {volumes[2]}, but in {data.parent}.",
            f"Temporary files are no longer on {volumes[1]}.",
        ]
        assert rows(again, lines) == before
        create(again, None, replace=True)
    assert [list(volume.iterdir()) for volume in volumes] == [[], [], []]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('indexes = "none"\n[tables.lineitem]\ncluster = ["l_shipdate"]', "creates none"),
        (
            '[tables.lineitem.partition]\ncolumn = "l_discount"\nbounds = ["0.05"]',
            "ranges of integers and dates, not of decimal",
        ),
    ],
)
def test_what_innodb_cannot_do_is_refused_before_anything(
    server: MysqlTarget, tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        create(server, written(tmp_path, text))
    assert server.loaded("tpch") is None


def history(target: MysqlTarget) -> str:
    with closing(target.connect("tpcc")) as session:
        return str(session.execute("SHOW CREATE TABLE history").rows[0][1])


def test_order_entry_by_warehouse(server: MysqlTarget, tmp_path: Path) -> None:
    text = '[tables.stock]\npartition = { column = "s_w_id", count = 4 }\n[tables.history]\n'
    by = 'partition = { column = "h_date", bounds = [2020-01-01T00:00:00], side = "left" }\n'
    with pytest.raises(UsageError, match="this table has none"):
        layout = written(tmp_path, f'{text}cluster = ["h_c_id"]', "tpcc")
        server.create_tables("tpcc", replace=False, layout=layout)
    layout = written(tmp_path, f'indexes = "default+foreign"\n{text}{by}', "tpcc")
    server.create_tables("tpcc", replace=False, layout=layout)
    steps = server.index("tpcc", threading.Event(), lambda *_: None, layout)
    assert not any("primary key of stock" in note for note in steps["notes"])
    shown = history(server)
    assert "2020-01-01 00:00:00.000001" in shown
    assert "PRIMARY KEY" not in shown


def test_a_table_of_the_users_under_the_name_of_dynos_stays(server: MysqlTarget) -> None:
    with closing(server.connect()) as session:
        session.execute("CREATE DATABASE dyno_tpch")
        session.execute("CREATE TABLE dyno_tpch.dyno_layout (mine INT)")
    with pytest.raises(UsageError, match="dyno_layout was not created by Dyno"):
        create(server, resolve("partitioned-4", "tpch", SCALE))
    create(server, None)
    assert rows(server, "SELECT COUNT(*) FROM dyno_tpch.dyno_layout") == [(0,)]


def test_a_layout_of_many_partitions_is_kept_whole(server: MysqlTarget, tmp_path: Path) -> None:
    layout = written(
        tmp_path, '[tables.lineitem]\npartition = { column = "l_shipdate", count = 100 }'
    )
    create(server, layout)
    server.mark("tpch", loaded(LoadPlan("tpch", SCALE, 1, 2, layout=layout)))
    found = server.loaded("tpch")
    assert found is not None
    assert len(found.layout) > 2048  # what a table's comment has space for
    assert Layout.model_validate_json(found.layout) == layout
    rows(server, "DELETE FROM dyno_tpch.dyno_layout")
    with pytest.raises(TargetError, match=r"layout of .* is missing"):
        server.loaded("tpch")


def test_on_another_server_volumes_are_refused_and_space_is_asked_for(
    server: MysqlTarget, tmp_path: Path
) -> None:
    able = parts(targets.parse("mysql://bench@db1/"))
    assert able.elsewhere is True
    assert parts(targets.parse("embedded:mysql")).elsewhere is False
    for part in (able.data, able.log, able.temp):
        assert isinstance(part, str)
        assert "embedded:mysql" in part
    assert isinstance(able.column, str)
    with at(server) as remote:
        layout = resolve("clustered", "tpch", SCALE)
        steps = fill(remote, layout)
        probe = remote.space_probe()
        assert probe is not None
        assert probe[1] is False
        assert probe[0]() > 10_000_000
        built = [step for step in steps["space"] if step["kind"] == "index"]
        # Another machine's files cannot be watched.
        assert {step["extra_peak_bytes"] for step in built} == {None}
        assert sum(step["extra_rest_bytes"] for step in built) > 0
