"""Queries of a file from load to report, on every engine for decision support."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dyno import targets
from dyno.bundle.reader import Bundle
from tests.conftest import missing
from tests.own.test_driven import codes
from tests.process import dyno, no_server_left

TARGETS = [
    "duckdb", "sqlite",
    *(pytest.param(name, marks=pytest.mark.long) for name in ("clickhouse", "postgresql", "mysql")),
]  # fmt: skip


def done(*args: str | Path) -> dict[str, Any]:
    found = dyno(*args, "--json")
    assert found.returncode in {0, 1}, found.stderr
    return json.loads(found.stdout)


@pytest.mark.parametrize("target", TARGETS)
def test_the_example_loads_runs_and_is_checked(target: str, tmp_path: Path) -> None:
    if lacks := targets.lacks(target):
        missing(lacks)
    where = ("--target", f"embedded:{target}", "--out", tmp_path)
    load = done("load", "sales-queries", *where, "--scale", "0.05")
    assert codes(load) == set()
    names = {check.name: check.passed for check in Bundle.open(Path(load["bundle"])).checks()}
    assert names["condition: daily sales add up"] is True
    again = dyno("load", "sales-queries", *where, "--scale", "0.05")
    assert again.returncode == 2
    assert "--replace" in again.stderr
    assert codes(done("load", "sales-queries", *where, "--scale", "0.05", "--replace")) == set()

    power = done("run", "sales-queries", *where, "--plans")
    assert codes(power) == set()
    engine = power["workloads"]["own_sales"]["engines"][target]
    assert {each["query"] for each in engine["queries"]} == {
        "above", "best", "month", "product", "share",
    }  # fmt: skip
    assert all(each["seconds"] > 0 and each["plan"] for each in engine["queries"])
    assert engine["power_total_s"] > 0
    assert "not verified" not in json.dumps(power)

    streams = done("run", "sales-queries", *where, "--test", "throughput", "--users", "2")
    assert codes(streams) == set()
    engine = streams["workloads"]["own_sales"]["engines"][target]
    assert engine["throughput_without_refresh"] > 0
    assert [each["done"] for each in engine["streams"]] == [6, 6]
    assert engine["figures_missing"] is None
    page = Path(streams["sheet"]).read_text(encoding="utf-8")
    assert "Best products of a category" not in page or "Sales queries" in page
    assert "Composite" not in page
    no_server_left(tmp_path)


FILE = """
name = "mart"
[draws]
region = { csv = "regions.csv", column = "region" }
[[queries]]
name = "sales"
title = "Sales of a region"
sql = "select count(*), sum(cents) from sale where region = :region"
values = { region = "O'Hara" }
rows = ROWS
answer = [[2, ANSWER]]
[[checks]]
name = "all regions are known"
sql = "select count(distinct region) from sale"
value = REGIONS
"""


def mart(folder: Path, rows: str = "1", answer: str = "30", regions: str = "2") -> Path:
    (folder / "regions.csv").write_text("region\nO'Hara\nsecret-region\n")
    path = folder / "mart.toml"
    text = FILE.replace("ROWS", rows).replace("ANSWER", answer).replace("REGIONS", regions)
    path.write_text(text)
    return path


def fill(folder: Path, kind: str) -> str:
    """A database of the user's own; returns its URL."""
    rows = [("O'Hara", 10), ("O'Hara", 20), ("secret-region", 5)]
    file = folder / f"mine.{kind}"
    session: Any = sqlite3.connect(file) if kind == "sqlite" else duckdb.connect(str(file))
    session.execute("create table sale (region varchar(20), cents integer)")
    session.executemany("insert into sale values (?, ?)", rows)
    session.commit()
    session.close()
    return f"{kind}:///{file}"


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_queries_on_tables_of_ones_own(kind: str, tmp_path: Path) -> None:
    where = ("--target", fill(tmp_path, kind), "--out", tmp_path)
    found = done("run", mart(tmp_path), *where, "--test", "full", "--streams", "1")
    assert codes(found) == set()
    bundle = Bundle.open(Path(found["bundle"]))
    passed = {check.name: check.passed for check in bundle.checks()}
    assert passed["answers-expected-sales"] is True
    assert passed["condition: all regions are known"] is True
    everything = "".join(
        path.read_text(errors="ignore") for path in bundle.path.rglob("*") if path.is_file()
    )
    assert "secret-region" not in everything

    wrong = done("run", mart(tmp_path, answer="31"), *where)
    assert "wrong-answers" in json.dumps(wrong["reasons"])
    few = done("run", mart(tmp_path, rows="2"), *where)
    assert "errors" in codes(few)
    assert "returned 1 row, expected 2" in json.dumps(few["reasons"])
    unknown = done("run", mart(tmp_path, regions="3"), *where)
    assert "inconsistent" in codes(unknown)
    assert "'2' against '3'" in json.dumps(unknown["reasons"])

    loaded = dyno("load", mart(tmp_path), *where, "--scale", "1")
    assert loaded.returncode == 2
    assert "has no tables" in loaded.stderr
    refused = dyno("run", mart(tmp_path), *where, "--test", "full", "--refresh")
    assert refused.returncode == 2
    assert "no refresh functions" in refused.stderr


SETUP = """
name = "setup"
[setup]
creates = ["dear"]
statements = ["create table dear as select 1 as id", "insert into dear select 2"]
[[queries]]
name = "all"
sql = "select id from dear"
rows = 2
[[checks]]
name = "two"
sql = "select count(*) from dear"
value = 2
"""


def test_a_setup_replaces_only_its_own_tables(tmp_path: Path) -> None:
    file = tmp_path / "setup.toml"
    file.write_text(SETUP)
    database = tmp_path / "mine.sqlite"
    with sqlite3.connect(database) as session:
        session.execute("create table dear (mine integer)")
    where = ("--target", f"sqlite:///{database}", "--out", tmp_path, "--scale", "1")
    refused = dyno("load", file, *where, "--replace")
    assert refused.returncode == 2
    assert "did not create (dear)" in refused.stderr
    with sqlite3.connect(database) as session:
        assert session.execute("select name from pragma_table_info('dear')").fetchall() == [
            ("mine",)
        ]
        session.execute("drop table dear")
    assert codes(done("load", file, *where)) == set()
    assert codes(done("run", file, *where[:4])) == set()
    file.write_text(SETUP.replace("dear", "other"))  # the table of the earlier setup is Dyno's, too
    assert codes(done("load", file, *where, "--replace")) == set()
    with sqlite3.connect(database) as session:
        names = {row[0] for row in session.execute("select name from sqlite_master")}
    assert "other" in names
    assert "dear" not in names


def test_a_setup_that_failed_starts_again(tmp_path: Path) -> None:
    file = tmp_path / "setup.toml"
    where = ("--target", "embedded:duckdb", "--out", tmp_path, "--scale", "1")
    file.write_text(SETUP.replace("select 2", "select id from nowhere"))
    failed = dyno("load", file, *where)
    assert failed.returncode == 3
    assert "nowhere" in failed.stderr
    file.write_text(SETUP.replace("dear", "other"))
    refused = dyno("load", file, *where, "--resume")
    assert refused.returncode == 2
    assert "creates other tables" in refused.stderr
    file.write_text(SETUP)
    assert codes(done("load", file, *where, "--resume")) == set()
    assert codes(done("run", file, *where[:4])) == set()


INDEXED = """
name = "indexed"
[tables.item]
rows = 10
key = ["id"]
columns = { id = "int row", v = "int 1..5" }
[setup]
creates = ["copied"]
statements = ["create index by_v on item (v)", "create table copied as select id from SOURCE"]
[[queries]]
name = "all"
sql = "select id from copied"
rows = 10
"""


@pytest.mark.long
def test_an_index_of_an_interrupted_setup_is_not_taken_for_its_own(tmp_path: Path) -> None:
    file = tmp_path / "indexed.toml"
    where = ("--target", "embedded:duckdb", "--out", tmp_path, "--scale", "1")
    file.write_text(INDEXED.replace("SOURCE", "nowhere"))
    assert dyno("load", file, *where).returncode == 3
    file.write_text(INDEXED.replace("SOURCE", "item"))
    refused = dyno("load", file, *where, "--resume")
    assert refused.returncode == 3
    assert "by_v" in refused.stderr and "--replace" in refused.stderr
    assert codes(done("load", file, *where, "--replace")) == set()
    assert codes(done("run", file, *where[:4])) == set()


def test_a_failed_check_of_a_load_says_what_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "setup.toml"
    file.write_text(SETUP.replace("value = 2", "value = 3"))
    where = ("--target", "embedded:duckdb", "--out", tmp_path)
    found = dyno("load", file, *where, "--scale", "1")
    assert found.returncode == 3
    assert "'2' against '3'" in found.stderr
    refused = dyno("run", file, *where)
    assert refused.returncode == 3
    assert "incomplete" in refused.stderr


def test_a_target_without_sql_is_refused_before_anything_starts(tmp_path: Path) -> None:
    file = tmp_path / "some.toml"
    file.write_text('[[queries]]\nname = "all"\nclickhouse = "select 1"\n')
    out = tmp_path / "out"
    found = dyno("run", file, "--target", "embedded:duckdb", "--out", out)
    assert found.returncode == 2
    assert "queries.all has no SQL for duckdb" in found.stderr
    assert not out.exists()


def test_a_dry_run_needs_no_server(tmp_path: Path) -> None:
    shown = dyno("run", mart(tmp_path), "--target", "embedded:duckdb", "--dry-run",
                 "--out", tmp_path / "out")  # fmt: skip
    assert shown.returncode == 0, shown.stderr
    assert "$1 region = 'O''Hara' (power test), " in shown.stdout
    assert not (tmp_path / "out").exists()
