"""What Dyno made in a server at a URL goes again; nothing else does."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from dyno.targets.postgresql.target import PostgresTarget
from tests.process import dyno
from tests.targets.conftest import ask

TABLES = r"""
SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE nspname LIKE 'dyno\_%' AND relkind IN ('r', 'v') ORDER BY 1, 2
"""


@pytest.fixture
def url(empty_postgres: PostgresTarget) -> str:
    with closing(empty_postgres.connect()) as session:
        host, user = session.raw.info.host, session.raw.info.user
    return f"postgresql://{user}@/postgres?host={host}"


def test_only_what_is_marked_goes(postgres: PostgresTarget, url: str, out: Path) -> None:
    postgres.create_tables("tpch", replace=False)
    ask(postgres, "CREATE SCHEMA dyno_tpcc; CREATE TABLE dyno_tpcc.item (mine int)")
    postgres.create_tables("tpch", replace=True)
    clean = ("clean", "--target", url, "--out", out)
    listed = dyno(*clean)
    assert listed.returncode == 0, listed.stderr
    assert "table dyno_tpch.lineitem" in listed.stdout
    assert "dyno_tpcc" not in listed.stdout
    assert len(ask(postgres, TABLES)) == 9  # a list only
    removed = dyno(*clean, "--yes", "--json")
    assert removed.returncode == 0, removed.stderr
    document = json.loads(removed.stdout)
    assert document["removed"] == document["found"]
    assert len(document["removed"]) == 9
    assert document["removed"][-1] == "schema dyno_tpch"
    assert ask(postgres, TABLES) == [("dyno_tpcc", "item")]
    assert "Found no Dyno data" in dyno(*clean, "--yes").stdout


def test_tables_of_a_setup_go_too(postgres: PostgresTarget, url: str, out: Path) -> None:
    file = out / "mart.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        '[setup]\ncreates = ["dear"]\nstatements = ["create table dear as select 1 as id"]\n'
        '[[queries]]\nname = "all"\nsql = "select id from dear"\n'
    )
    loaded = dyno("load", file, "--target", url, "--scale", "1", "--out", out)
    assert loaded.returncode in {0, 1}, loaded.stderr
    assert ("dyno_own_mart", "dear") in ask(postgres, TABLES)
    removed = dyno("clean", "--target", url, "--out", out, "--yes", "--json")
    assert "table dyno_own_mart.dear" in json.loads(removed.stdout)["removed"]
    assert ask(postgres, TABLES) == []


def test_a_schema_with_something_else_stays(postgres: PostgresTarget, url: str, out: Path) -> None:
    postgres.create_tables("tpch", replace=False)
    ask(postgres, "CREATE VIEW dyno_tpch.mine AS SELECT 1 AS x")
    done = dyno("clean", "--target", url, "--yes", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "schema" not in done.stdout
    assert ask(postgres, TABLES) == [("dyno_tpch", "mine")]


def test_a_view_of_the_users_on_a_table_keeps_all(
    postgres: PostgresTarget, url: str, out: Path
) -> None:
    postgres.create_tables("tpch", replace=False)
    ask(postgres, "CREATE VIEW dyno_tpch.mine AS SELECT r_name FROM dyno_tpch.region")
    done = dyno("clean", "--target", url, "--yes", "--out", out)
    assert done.returncode == 3
    assert "mine" in done.stderr or "depend" in done.stderr
    assert len(ask(postgres, TABLES)) == 9


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("embedded:postgresql",), "Omit --target"),
        (("sqlite:///x/y.sqlite",), "remove its file"),
        (("postgresql://h/d", "--runs"), "cannot be combined"),
    ],
)
def test_what_is_not_cleaned_so(args: tuple[str, ...], message: str, out: Path) -> None:
    done = dyno("clean", "--target", *args, "--out", out)
    assert done.returncode == 2
    assert message in done.stderr
