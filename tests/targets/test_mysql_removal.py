"""What Dyno made in a MariaDB at a URL goes again; nothing else does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from dyno import targets
from dyno.contracts.target import Loaded, LoadPlan
from dyno.errors import DynoError, UsageError
from dyno.targets.mysql.errors import PRIVILEGES
from dyno.targets.mysql.target import MysqlTarget
from tests.maintained import fill
from tests.process import dyno
from tests.targets.conftest import LIMITS, ask, embedded_mariadb, load_only


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MysqlTarget]:
    with embedded_mariadb(tmp_path_factory.mktemp("my")) as target:
        yield target


@pytest.fixture
def mariadb(server: MysqlTarget) -> Iterator[MysqlTarget]:
    yield server
    for place in ("theirs", "dyno_tpch", "dyno_tpcc", "dyno_tpcc_2"):
        ask(server, f"DROP DATABASE IF EXISTS {place}")


def url_of(target: MysqlTarget) -> str:
    return f"mysql://root@localhost/?unix_socket={quote(target.wire()['unix_socket'], safe='')}"


def tables(target: MysqlTarget) -> set[str]:
    return {name for (name,) in ask(target, "SHOW TABLES IN dyno_tpch")}


def test_only_what_is_marked_goes(mariadb: MysqlTarget, out: Path) -> None:
    fill(mariadb)
    ask(
        mariadb,
        "ALTER TABLE dyno_tpch.nation ADD FOREIGN KEY (n_regionkey) REFERENCES region(r_regionkey)",
    )
    ask(mariadb, "CREATE TABLE dyno_tpch.dyno_layout (mine INT) COMMENT 'mine'")
    clean = ("clean", "--target", url_of(mariadb), "--out", out)
    listed = dyno(*clean)
    assert listed.returncode == 0, listed.stderr
    assert "table dyno_tpch.lineitem" in listed.stdout
    assert "dyno_layout" not in listed.stdout
    assert len(tables(mariadb)) == 9  # a list only
    removed = dyno(*clean, "--yes", "--json")
    assert removed.returncode == 0, removed.stderr
    document = json.loads(removed.stdout)
    assert document["removed"] == document["found"]
    assert len(document["removed"]) == 8
    assert tables(mariadb) == {"dyno_layout"}
    assert "Found no Dyno data" in dyno(*clean, "--yes").stdout


def test_what_belongs_to_a_load_goes_with_it(mariadb: MysqlTarget) -> None:
    mariadb.create_tables("tpch", replace=False)
    load_only(mariadb, LoadPlan("tpch", 0.01, 1, 1), "region")
    mariadb.mark("tpch", Loaded(0.01, 1, complete=False, layout='{"name": "x"}'))
    assert {"dyno_layout", "dyno_load_journal"} < tables(mariadb)
    gone = mariadb.remove()
    assert {"table dyno_tpch.dyno_layout", "table dyno_tpch.dyno_load_journal"} < set(gone)
    assert tables(mariadb) == set()


def test_a_foreign_key_of_the_users_on_a_table_keeps_all(mariadb: MysqlTarget, out: Path) -> None:
    fill(mariadb)
    ask(mariadb, "CREATE DATABASE theirs")
    ask(
        mariadb,
        "CREATE TABLE theirs.mine (r INT NOT NULL, "
        "FOREIGN KEY (r) REFERENCES dyno_tpch.region (r_regionkey))",
    )
    done = dyno("clean", "--target", url_of(mariadb), "--yes", "--out", out)
    assert done.returncode == 2
    assert "theirs.mine was not created by Dyno and refers to dyno_tpch.region" in done.stderr
    assert len(tables(mariadb)) == 8


def test_of_several_databases_each_has_its_grants_and_is_guarded(mariadb: MysqlTarget) -> None:
    ask(mariadb, "CREATE USER bench@localhost")
    ask(mariadb, f"GRANT {PRIVILEGES} ON `dyno\\_tpcc`.* TO bench@localhost")
    url = url_of(mariadb).replace("root@", "bench@")
    with targets.open_target(targets.parse(url), Path(), LIMITS) as target:
        target.create_tables("tpcc", replace=False)
        with pytest.raises(DynoError) as denied:
            target.create_tables("tpcc@2", replace=False)
        wanted = f"GRANT {PRIVILEGES} ON `dyno\\_tpcc\\_2`.* TO 'bench'@'localhost'"
        assert wanted in str(denied.value)
        ask(mariadb, wanted)
        target.create_tables("tpcc@2", replace=False)
        assert isinstance(target, MysqlTarget)
        target.mark("tpcc@2", Loaded(1.0, 1, complete=True))
        assert target.loaded("tpcc@2") == Loaded(1.0, 1, complete=True)
        ask(mariadb, "CREATE DATABASE theirs")
        ask(
            mariadb,
            "CREATE TABLE theirs.mine (a INT, FOREIGN KEY (a) REFERENCES "
            "dyno_tpcc_2.warehouse (w_id)) ENGINE=InnoDB",
        )
    with pytest.raises(
        UsageError, match=r"theirs\.mine was not created by Dyno and refers to dyno_tpcc_2"
    ):
        mariadb.remove()
    assert len([item for item in mariadb.marked() if "dyno_tpcc_2." in item]) == 9
    ask(mariadb, "DROP TABLE theirs.mine")
    assert len(mariadb.remove()) == 18
