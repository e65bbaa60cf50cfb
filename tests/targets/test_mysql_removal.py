"""What Dyno made in a MariaDB at a URL goes again; nothing else does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

from dyno import schema, targets
from dyno.targets.base import Loaded
from dyno.targets.mysql.connection import MysqlConnection
from dyno.targets.mysql.target import MysqlTarget
from tests.mariadb import require_mariadb
from tests.process import dyno
from tests.targets.conftest import LIMITS

TABLES = (
    "SELECT table_schema, table_name FROM information_schema.tables "
    "WHERE table_schema IN ('dyno_tpch', 'dyno_tpcc', 'mine') ORDER BY 1, 2"
)
MARKED = len(schema.tables("tpch")) + 1  # and the layout


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MysqlTarget]:
    """A running server that tests may fill but not break."""
    require_mariadb()
    out = tmp_path_factory.mktemp("removal")
    target = targets.open_target(targets.parse("embedded:mysql"), out, LIMITS)
    assert isinstance(target, MysqlTarget)
    with target:
        yield target


@pytest.fixture
def admin(mariadb: MysqlTarget) -> Iterator[MysqlConnection]:
    """A session with a server that holds the small workload's tables, with references and marks."""
    with closing(mariadb.connect()) as session:
        for name in ("mine", "dyno_tpcc", "dyno_tpch"):
            session.execute(f"DROP DATABASE IF EXISTS {name}")
        mariadb.create_tables("tpch", replace=False)
        mariadb.mark("tpch", Loaded(0.01, 1, complete=True, layout='{"name": "x"}'))
        session.execute(
            "ALTER TABLE dyno_tpch.nation ADD FOREIGN KEY (n_regionkey) REFERENCES "
            "dyno_tpch.region (r_regionkey)"
        )
        session.execute("CREATE DATABASE dyno_tpcc")
        session.execute("CREATE TABLE dyno_tpcc.item (mine INT)")
        session.execute("CREATE DATABASE mine")
        yield session


@pytest.fixture
def url(mariadb: MysqlTarget) -> str:
    """The private server as if it were somebody's own."""
    socket = quote(mariadb.wire()["unix_socket"], safe="")
    return f"mysql://root@localhost/?unix_socket={socket}"


def test_only_what_is_marked_goes(admin: MysqlConnection, url: str, out: Path) -> None:
    admin.execute("CREATE TABLE mine.region (x INT) COMMENT='dyno:tpch {}'")
    clean = ("clean", "--target", url, "--out", out)
    listed = dyno(*clean)
    assert listed.returncode == 0, listed.stderr
    assert "table dyno_tpch.lineitem" in listed.stdout
    assert "Give --yes" in listed.stdout
    assert "mine" not in listed.stdout
    assert "dyno_tpcc" not in listed.stdout
    assert len(admin.execute(TABLES).rows) == MARKED + 2  # a list only
    removed = dyno(*clean, "--yes", "--json")
    assert removed.returncode == 0, removed.stderr
    document = json.loads(removed.stdout)
    assert document["removed"] == document["found"]
    assert len(document["removed"]) == MARKED
    assert admin.execute(TABLES).rows == [("dyno_tpcc", "item"), ("mine", "region")]
    assert "Nothing of Dyno's" in dyno(*clean, "--yes").stdout


def test_a_table_of_the_users_that_refers_to_one_keeps_all(
    admin: MysqlConnection, url: str, out: Path
) -> None:
    admin.execute(
        "CREATE TABLE mine.place (region INT NOT NULL, FOREIGN KEY (region) REFERENCES "
        "dyno_tpch.region (r_regionkey)) ENGINE=InnoDB"
    )
    done = dyno("clean", "--target", url, "--yes", "--out", out)
    assert done.returncode == 3
    assert "mine.place" in done.stderr
    assert "nothing was removed" in done.stderr
    assert len(admin.execute(TABLES).rows) == MARKED + 2
