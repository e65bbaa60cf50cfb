"""Layouts on a real PostgreSQL: what was asked for is there, and goes again without a trace."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from dyno import _core, targets, workloads
from dyno.contracts.layout import Layout
from dyno.contracts.maintenance import prepare
from dyno.contracts.target import Loaded, LoadPlan
from dyno.errors import TargetError, UsageError
from dyno.layouts.resolve import resolve
from dyno.stages.load import loaded
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.extra_space import Space
from dyno.targets.postgresql.maintenance import Reindex
from dyno.targets.postgresql.tablespaces import name_of
from dyno.targets.postgresql.target import PostgresTarget
from tests.targets.conftest import LIMITS, embedded

SCALE = 0.01


@pytest.fixture
def server(empty_postgres: PostgresTarget) -> PostgresTarget:
    return empty_postgres


def written(folder: Path, text: str, workload: str = "tpch") -> Layout:
    file = folder / "mine.toml"
    file.write_text(text, encoding="utf-8")
    return resolve(str(file), workload, SCALE if workload == "tpch" else 4)


def rows(target: PostgresTarget, query: str) -> list[tuple[Any, ...]]:
    with closing(target.connect("tpch")) as session:
        return session.execute(query).rows


def create(target: PostgresTarget, layout: Layout | None, *, replace: bool = False) -> None:
    target.create_tables("tpch", replace=replace, layout=layout)


def index(target: PostgresTarget, layout: Layout) -> dict[str, Any]:
    return target.index("tpch", threading.Event(), lambda *_: None, layout)


INDEXES = """
SELECT c.relname, count(*), bool_and(i.indisvalid) FROM pg_index i
JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'dyno_tpch' AND c.relname LIKE '{}%' GROUP BY 1 ORDER BY 1
"""


def test_partitions_keys_and_clustering(server: PostgresTarget, tmp_path: Path) -> None:
    layout = written(
        tmp_path,
        'indexes = "default+foreign"\n[tables.lineitem]\ncluster = ["l_shipdate"]\n'
        'partition = { column = "l_shipdate", bounds = ["1994-01-01", "1996-01-01"], '
        'side = "left" }\n'
        "[tables.orders]\n"
        'partition = { column = "o_orderdate", count = 2 }\n'
        'indexes = [{ columns = ["o_totalprice"] }]',
    )
    create(server, layout)
    plan = LoadPlan("tpch", SCALE, 1, 2, layout=layout)
    outcome = server.load(plan, _core.Control())
    steps = index(server, layout)
    server.mark("tpch", loaded(plan))
    found = server.loaded("tpch")
    assert found is not None
    assert Layout.model_validate_json(found.layout) == layout

    taken = rows(
        server,
        "SELECT tableoid::regclass::text, count(*), min(l_shipdate)::text, max(l_shipdate)::text "
        "FROM lineitem GROUP BY 1 ORDER BY 1",
    )
    assert [row[0] for row in taken] == ["lineitem_p1", "lineitem_p2", "lineitem_p3"]
    lines = next(table for table in outcome.tables if table["table"] == "lineitem")
    assert sum(row[1] for row in taken) == lines["rows"] == 60_175
    # side = "left": the bound is the greatest value of the partition on its left.
    assert (taken[0][3], taken[1][2], taken[1][3]) == ("1994-01-01", "1994-01-02", "1996-01-01")
    low, high = workloads.get("tpch").ranges["lineitem", "l_shipdate"](SCALE)
    assert low.isoformat() <= taken[0][2] <= taken[2][3] <= high.isoformat()

    # Key, two secondary indexes; each valid and taken in by the parent, none of them twice.
    tables = ("lineitem", "lineitem_p1", "lineitem_p2", "lineitem_p3")
    assert rows(server, INDEXES.format("lineitem")) == [(name, 3, True) for name in tables]
    tables = ("orders", "orders_p1", "orders_p2")
    assert rows(server, INDEXES.format("orders")) == [(name, 3, True) for name in tables]
    key = "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = '{}'"
    assert rows(server, key.format("lineitem_pkey"))[0][0].endswith("l_linenumber, l_shipdate)")
    assert rows(server, key.format("lineitem_to_partsupp_fkey"))
    assert not rows(server, key.format("lineitem_to_orders_fkey"))
    assert any("No foreign key from lineitem to orders" in note for note in steps["notes"])
    assert any("primary key of lineitem is (l_orderkey" in note for note in steps["notes"])
    correlation = (
        "SELECT min(correlation) FROM pg_stats WHERE schemaname = 'dyno_tpch' "
        "AND tablename LIKE 'lineitem\\_p%' AND attname = 'l_shipdate'"
    )
    assert rows(server, correlation)[0][0] > 0.99

    space = {step["step"]: step for step in steps["space"]}
    clustered = space["cluster lineitem_p2"]
    assert clustered["gb_per_h"] > 0
    assert 0.8 < clustered["ratio"] < 4  # a second copy of the rows, and of the index
    built = space["index lineitem_by_part_p1"]
    assert built["extra_peak_bytes"] >= built["extra_rest_bytes"] > 0
    assert {"primary key", "index", "cluster", "foreign key", "analyse"} == {
        step["kind"] for step in steps["space"]
    }
    assert all(step["seconds"] >= 0 for step in steps["space"])


def test_a_layout_of_nothing_is_todays_design(server: PostgresTarget) -> None:
    """The catalogue of ``default`` is that of a load without a layout."""

    def catalogue() -> list[tuple[Any, ...]]:
        return rows(
            server,
            "SELECT c.relname, c.relkind, c.reltablespace, c.relam, c.reloptions, "
            "obj_description(c.oid), pg_get_indexdef(i.indexrelid), "
            "(SELECT array_agg(a.attname || format_type(a.atttypid, a.atttypmod) || a.attnotnull "
            "ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = c.oid) "
            "FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid "
            "WHERE c.relnamespace = 'dyno_tpch'::regnamespace ORDER BY 1",
        )

    create(server, None)
    server.index("tpch", threading.Event(), lambda *_: None)
    plain = catalogue()
    create(server, resolve("default", "tpch", SCALE), replace=True)
    steps = index(server, resolve("default", "tpch", SCALE))
    assert catalogue() == plain
    assert len(steps["space"]) == 8 + 4 + 8
    assert "primary key lineitem" in steps


@pytest.mark.parametrize(("name", "keys", "foreign"), [("bare", 0, 0), ("keys-foreign", 8, 8)])
def test_index_sets(server: PostgresTarget, name: str, keys: int, foreign: int) -> None:
    layout = resolve(name, "tpch", SCALE)
    create(server, layout)
    index(server, layout)
    count = (
        "SELECT count(*) FILTER (WHERE contype = 'p'), count(*) FILTER (WHERE contype = 'f') "
        "FROM pg_constraint WHERE connamespace = 'dyno_tpch'::regnamespace"
    )
    assert rows(server, count) == [(keys, foreign)]
    create(server, None, replace=True)  # foreign keys do not hinder the replacement


def test_volumes_become_tablespaces_and_go_again(public_out: Path) -> None:
    volumes = [public_out / name for name in ("a", "b", "log")]
    for volume in volumes:
        volume.mkdir(mode=0o755)
    users = public_out / "users"
    users.mkdir(mode=0o777)
    users.chmod(0o777)
    layout = written(
        public_out,
        f'[volumes]\ntemp = "{volumes[1]}"\nlog = "{volumes[2]}"\n[tables.lineitem]\n'
        f'partition = {{ column = "l_shipdate", count = 2, volumes = ["{volumes[0]}", '
        f'"{volumes[1]}"] }}\n[tables.part]\nvolume = "tablespace:fast"',
    )
    target = embedded(public_out / "out")
    target.before_start(layout)
    with target:
        log = public_out / "out/engines/postgresql/data/pg_wal"
        assert log.resolve().is_relative_to(volumes[2])
        with pytest.raises(UsageError, match="no tablespace 'fast'"):
            create(target, layout)
        with closing(target.connect()) as session:
            session.execute("SET allow_in_place_tablespaces = on")
            session.execute("CREATE TABLESPACE fast LOCATION ''")
        create(target, layout)
        where = "SELECT relname, spcname FROM pg_class c JOIN pg_tablespace t ON t.oid = " \
            "c.reltablespace WHERE relkind = 'r' ORDER BY 1"  # fmt: skip
        places = [row for row in rows(target, where) if not row[1].startswith("pg_")]
        assert places == [
            ("lineitem_p1", name_of(str(volumes[0]))),
            ("lineitem_p2", name_of(str(volumes[1]))),
            ("part", "fast"),
        ]
        assert rows(target, "SHOW temp_tablespaces") == [(name_of(str(volumes[1])),)]
        assert target.deviations(layout) == []
        index(target, layout)
        stored = layout.model_dump_json()
        target.mark("tpch", Loaded(SCALE, 1, complete=True, layout=stored))
        # Another Dyno's sessions, of queries and of the driver, have it; the user's own have not.
        with closing(target.connect()) as session:
            info = session.raw.info
            host, user = info.host, info.user
        other = targets.parse(f"postgresql://{user}@/postgres?host={host}")
        with targets.open_target(other, public_out, LIMITS) as reached:
            assert reached.wire("tpch")["settings"]["temp_tablespaces"] == name_of(str(volumes[1]))
            with closing(reached.connect("tpch")) as session:
                shown = session.execute("SHOW temp_tablespaces").rows
            assert shown == [(name_of(str(volumes[1])),)]
        with psycopg.connect(host=host, user=user, dbname="postgres") as users_own:
            assert users_own.execute("SHOW temp_tablespaces").fetchone() == ("",)
        assert rows(target, "SELECT count(*) FROM pg_db_role_setting") == [(0,)]
        assert rows(
            target,
            "SELECT count(*) FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace "
            f"WHERE relkind = 'i' AND relname LIKE 'lineitem%p1%' AND spcname = "
            f"'{name_of(str(volumes[0]))}'",
        ) == [(3,)]
        create(target, None, replace=True)
        assert rows(target, "SELECT count(*) FROM pg_db_role_setting") == [(0,)]
        assert target.deviations(layout) == [f"Temporary files are no longer on {volumes[1]}."]
        names = rows(target, "SELECT spcname FROM pg_tablespace WHERE spcname NOT LIKE 'pg\\_%'")
        assert names == [("fast",)]
        assert list(volumes[0].iterdir()) == list(volumes[1].iterdir()) == []
    again = embedded(public_out / "out")
    again.before_start(resolve("default", "tpch", SCALE))
    with again:
        assert not log.is_symlink()
        assert list(volumes[2].iterdir()) == []


def test_column_form_needs_a_columnar_access_method(server: PostgresTarget) -> None:
    layout = resolve("columnar", "tpch", SCALE)
    with pytest.raises(UsageError, match=r"no columnar table access method \(it has: heap\)"):
        create(server, layout)
    assert server.loaded("tpch") is None  # nothing was touched
    with closing(server.connect()) as session:
        # Stands in for an extension: what is proven is that tables are made with the method.
        session.execute("CREATE ACCESS METHOD columnar TYPE TABLE HANDLER heap_tableam_handler")
        try:
            create(server, layout)
            query = "SELECT DISTINCT amname FROM pg_class c JOIN pg_am a ON a.oid = relam " \
                "WHERE relnamespace = 'dyno_tpch'::regnamespace"  # fmt: skip
            assert rows(server, query) == [("columnar",)]
        finally:
            session.execute("DROP ACCESS METHOD columnar CASCADE")


def test_missing_rights_come_with_the_statement_that_gives_them(
    server: PostgresTarget, tmp_path: Path
) -> None:
    with closing(server.connect()) as session:
        session.execute("CREATE ROLE clerk LOGIN")
        host = session.raw.info.host
    url = f"postgresql://clerk@/postgres?host={host}"
    try:
        with targets.open_target(targets.parse(url), tmp_path, LIMITS) as clerk:
            grant = 'GRANT CREATE ON DATABASE "postgres" TO "clerk";'
            with pytest.raises(TargetError, match=grant):
                clerk.create_tables("tpch", replace=False)
            with closing(server.connect()) as session:
                session.execute("GRANT CREATE ON DATABASE postgres TO clerk")
            layout = written(tmp_path, f'[volumes]\ndata = "{tmp_path}"')
            with pytest.raises(
                UsageError, match=r"only a superuser can create.*CREATE TABLESPACE \"dyno_"
            ):
                clerk.create_tables("tpch", replace=False, layout=layout)
            layout = written(tmp_path, '[volumes]\ndata = "tablespace:pg_global"')
            grant = r'GRANT CREATE ON TABLESPACE "pg_global" TO "clerk";'
            with pytest.raises(UsageError, match=grant):
                clerk.create_tables("tpch", replace=False, layout=layout)
            assert clerk.loaded("tpch") is None
            clerk.create_tables("tpch", replace=False)
    finally:
        with closing(server.connect()) as session:
            session.execute("DROP OWNED BY clerk CASCADE")
            session.execute("DROP ROLE clerk")


def test_a_table_of_the_users_under_a_partitions_name_stays(server: PostgresTarget) -> None:
    with closing(server.connect()) as session:
        session.execute("CREATE SCHEMA dyno_tpch")
        session.execute("CREATE TABLE dyno_tpch.lineitem_p2 (x int)")
    with pytest.raises(UsageError, match=r"\(lineitem_p2\), with the names of partitions"):
        create(server, resolve("partitioned-4", "tpch", SCALE), replace=True)
    assert rows(server, "SELECT count(*) FROM lineitem_p2") == [(0,)]


def test_on_another_server_a_volume_is_a_folder_of_the_servers_user(
    server: PostgresTarget, public_out: Path
) -> None:
    volume = public_out / "volume"
    layout = written(public_out, f'[volumes]\ndata = "{volume}"')
    with closing(server.connect()) as session:
        info = session.raw.info
        url = f"postgresql://{info.user}@/{info.dbname}?host={info.host}"
    with targets.open_target(targets.parse(url), public_out, LIMITS) as target:
        with pytest.raises(TargetError, match=rf"install -d -o postgres .* {volume}"):
            target.create_tables("tpch", replace=False, layout=layout)
        assert target.loaded("tpch") is None
        volume.mkdir(mode=0o700)
        owner = server.data_paths()[0].stat()
        os.chown(volume, owner.st_uid, owner.st_gid)
        target.create_tables("tpch", replace=False, layout=layout)
        assert any(volume.iterdir())
        steps = target.index("tpch", threading.Event(), lambda *_: None, layout)
        built = next(step for step in steps["space"] if step["kind"] == "index")
        assert built["extra_peak_bytes"] is None  # another machine's files cannot be watched
        assert built["extra_rest_bytes"] > 0
        target.create_tables("tpch", replace=True)
        assert list(volume.iterdir()) == []


def test_order_entry_by_warehouse_with_all_its_references(
    server: PostgresTarget, tmp_path: Path
) -> None:
    layout = written(
        tmp_path,
        'indexes = "default+foreign"\n'
        '[tables.stock]\npartition = { column = "s_w_id", count = 4 }\n'
        '[tables.history]\npartition = { column = "h_date", bounds = [2020-01-01T00:00:00] }\n'
        'cluster = ["h_c_id"]',
        "tpcc",
    )
    server.create_tables("tpcc", replace=False, layout=layout)
    try:
        steps = server.index("tpcc", threading.Event(), lambda *_: None, layout)
        # The key of stock has the warehouse in it: nothing of the layout.
        assert all("wal_level" in note for note in steps["notes"])
        kinds = [step["kind"] for step in steps["space"]]
        assert kinds.count("foreign key") == 10
        assert kinds.count("cluster") == 2
    finally:
        with closing(server.connect()) as session:
            session.execute("DROP SCHEMA dyno_tpcc CASCADE")


SPILL = (
    "SET work_mem = '64kB'; BEGIN; DECLARE sorted CURSOR FOR "
    "SELECT i FROM generate_series(1, 200000) i ORDER BY i DESC; FETCH 1 FROM sorted"
)


@pytest.fixture
def sorting(server: PostgresTarget, public_out: Path) -> Iterator[Path]:
    """The volume of temporary files; empty tables have such a layout."""
    volume = public_out / "volume"
    volume.mkdir(mode=0o755)
    create(server, written(public_out, f'[volumes]\ntemp = "{volume}"'))
    yield volume
    create(server, None, replace=True)


def test_maintenance_sorts_on_the_volume_of_the_layout(
    server: PostgresTarget, sorting: Path, public_out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = written(public_out, f'[volumes]\ntemp = "{sorting}"')
    with closing(server.connect("tpch")) as session:
        info = session.raw.info
        url = f"postgresql://{info.user}@/{info.dbname}?host={info.host}"
        session.execute("INSERT INTO region SELECT i, '', '' FROM generate_series(1, 100000) i")
    index(server, layout)
    server.mark("tpch", Loaded(SCALE, 1, complete=True, layout=layout.model_dump_json()))

    # Another Dyno, which did not load the data.
    target = targets.open_target(targets.parse(url), public_out, LIMITS)
    assert isinstance(target, PostgresTarget)
    connect = target.connect
    shown: list[str] = []

    def recorded(workload: str = "") -> PostgresConnection:
        session = connect(workload)
        shown.append(session.execute("SHOW temp_tablespaces").rows[0][0])
        return session

    monkeypatch.setattr(target, "connect", recorded)
    with target:
        for task in ("vacuum", "integrity-check", "quick-check", "sliding-window"):
            shown.clear()
            prepare(target, "tpch", task).close()
            assert set(shown) == {name_of(str(sorting))}, task
        said: list[str] = []
        with closing(prepare(target, "tpch", "reindex")) as job:
            assert isinstance(job, Reindex)
            job.session.raw.add_notice_handler(lambda note: said.append(str(note.message_primary)))
            job.session.execute("SET log_temp_files = 0; SET client_min_messages = log")
            job.session.execute("SET maintenance_work_mem = '1MB'")
            (check,) = job.run(threading.Event(), lambda *_: None)
        assert check.passed
        files = [text for text in said if "pgsql_tmp" in text]
        assert files and all('"pg_tblspc/' in text for text in files), files


def test_extra_space_includes_temporary_files_in_every_tablespace(
    server: PostgresTarget, sorting: Path
) -> None:
    with closing(server.connect("tpch")) as worker, closing(server.connect("tpch")) as other:
        pid = worker.raw.info.backend_pid
        with closing(Space(server.connect, pid, "dyno_tpch")) as space:
            assert space.read() == 0
            for session in (worker, other):
                session.execute(SPILL)
            size = sum(file.stat().st_size for file in sorting.rglob(f"pgsql_tmp{pid}.*"))
            assert space.read() == size > 1_000_000
            worker.execute("ROLLBACK; SET temp_tablespaces = ''")
            assert space.read() == 0
            worker.execute(SPILL)
            assert space.read() == size


def test_extra_space_without_the_right_to_list_files_is_unknown(server: PostgresTarget) -> None:
    def connect() -> PostgresConnection:
        session = server.connect()
        session.execute("SET ROLE clerk")
        return session

    with closing(server.connect()) as session:
        session.execute("CREATE ROLE clerk")
        try:
            session.execute(SPILL)
            pid = session.raw.info.backend_pid
            with closing(Space(connect, pid, "dyno_tpch")) as space:
                space.seen(1)
                assert space.read() is None
        finally:
            session.execute("ROLLBACK; DROP ROLE clerk")
