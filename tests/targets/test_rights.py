"""`dyno doctor` names the GRANT that an account lacks, and that GRANT is enough."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from dyno import targets, workloads
from dyno.targets.mysql.target import MysqlTarget
from dyno.targets.postgresql.target import PostgresTarget
from tests.process import dyno
from tests.targets.conftest import LIMITS, ask, embedded_mariadb


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MysqlTarget]:
    with embedded_mariadb(tmp_path_factory.mktemp("rights")) as target:
        yield target


def lacking(url: str, out: Path) -> list[str]:
    """The GRANTs that doctor shows; its exit code agrees."""
    done = dyno("doctor", url, "--json", "--out", out)
    items = json.loads(done.stdout)["items"]
    messages = [item["message"] for item in items if item["name"] == "rights" and not item["ok"]]
    assert done.returncode == (3 if messages else 0), done.stdout
    return [found[0] for one in messages if (found := re.search(r"GRANT .*", one))]


def test_a_postgresql_role(empty_postgres: PostgresTarget, out: Path) -> None:
    folder = quote(empty_postgres.wire()["host"], safe="")
    ask(empty_postgres, "CREATE ROLE clerk LOGIN")
    try:
        url = f"postgresql://clerk@/postgres?host={folder}"
        (grant,) = set(lacking(url, out))
        ask(empty_postgres, grant)
        assert lacking(url, out) == []
    finally:
        ask(empty_postgres, "DROP OWNED BY clerk")
        ask(empty_postgres, "DROP ROLE clerk")


@pytest.mark.parametrize("how", ["the account", "everywhere", "a role"])
def test_a_mariadb_account(mariadb: MysqlTarget, out: Path, how: str) -> None:
    socket = quote(mariadb.wire()["unix_socket"], safe="")
    url = f"mysql://clerk@localhost/?unix_socket={socket}"
    ask(mariadb, "CREATE USER clerk@localhost")
    try:
        grants = lacking(url, out)
        assert len(grants) == len(workloads.names())
        match how:
            case "the account":
                for grant in grants:
                    ask(mariadb, grant)
            case "everywhere":
                ask(mariadb, "GRANT ALL ON *.* TO clerk@localhost")
            case _:
                ask(mariadb, "CREATE ROLE loaders")
                ask(mariadb, "GRANT ALL ON `dyno\\_tpch`.* TO loaders")
                ask(mariadb, "GRANT loaders TO clerk@localhost")
                ask(mariadb, "SET DEFAULT ROLE loaders FOR clerk@localhost")
        assert lacking(url, out) == []
        with targets.open_target(targets.parse(url), Path("/nowhere"), LIMITS) as target:
            target.create_tables("tpch", replace=True)
    finally:
        ask(mariadb, "DROP USER clerk@localhost")
        ask(mariadb, "DROP ROLE IF EXISTS loaders")
