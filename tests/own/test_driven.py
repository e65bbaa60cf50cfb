"""Files of statements from load to report, on servers and without one."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from dyno import targets, workloads
from dyno.bundle.reader import Bundle
from dyno.workloads import own
from tests.conftest import missing
from tests.process import dyno, no_server_left

BRIEF = ("--users", "2", "--warmup", "100ms", "--duration", "300ms", "--no-criteria")
TARGETS = [
    "sqlite", *(pytest.param(name, marks=pytest.mark.long) for name in ("postgresql", "mysql"))
]  # fmt: skip
SHOP = """
title = "Shop"
[tables.item]
rows = 100
key = ["id"]
indexes = { item_by_name = ["name"] }
[tables.item.columns]
id = "int row"
price = "decimal(9,2) 0..1000"
name = "varchar(20) letters 5..20"
[draws]
id = { uniform = [1, LAST] }
other = { query = "select id from item where id < 10" }
[transactions.copy]
statements = [
  { name = "get", sql = "select price, name from item where id = :id", keep = ["price decimal(2)", "name text"] },
  { name = "put", sql = "update item set price = :price, name = :name where id = :other", rows = 1 },
]
[transactions.look]
weight = 2
statements = ["select name from item where id = :other -- ':id'"]
[[checks]]
name = "only the first items change"
sql = "select id from item where price < CHECKED or name = 'password hunter2'"
"""  # noqa: E501


def shop(folder: Path, name: str, last: int = 100, checked: int = 0) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(SHOP.replace("LAST", str(last)).replace("CHECKED", str(checked)))
    return path


def run(*args: str | Path) -> dict[str, Any]:
    done = dyno("run", *args, "--json", *BRIEF)
    assert done.returncode in {0, 1}, done.stderr
    return json.loads(done.stdout)


def codes(found: dict[str, Any]) -> set[str]:
    """Reasons against the run that do not concern other work on this machine."""
    return {reason["code"] for reason in found["reasons"]} & {
        "errors",
        "inconsistent",
        "incomplete",
    }


@pytest.mark.parametrize("target", TARGETS)
def test_values_are_carried_and_checked(target: str, tmp_path: Path) -> None:
    if lacks := targets.lacks(target):
        missing(lacks)
    file, where = shop(tmp_path, "shop"), ("--target", f"embedded:{target}", "--out", tmp_path)
    refused = dyno("run", file, *where, *BRIEF)
    assert refused.returncode == 2
    assert f"dyno load {file}" in refused.stderr
    loaded = dyno("load", file, *where, "--scale", "2", "--json")
    assert json.loads(loaded.stdout)["workloads"]["own_shop"]["consistency"] is True
    again = dyno("load", file, *where, "--scale", "1")
    assert again.returncode == 2
    assert "--replace" in again.stderr

    found = run(file, *where)
    assert codes(found) == set()
    (level,) = found["workloads"]["own_shop"]["levels"]
    assert level["errors"] == 0
    assert level["copies_per_min"] > 0
    counts = {name: each["count"] for name, each in level["operations"].items()}
    assert set(counts) == {"copy", "look"}
    bundle = Bundle.open(Path(found["bundle"]))
    record = bundle.run.plan["statements"]
    assert record["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert "select price, name from item" in record["text"]
    assert "hunter2" not in (bundle.path / "run.json").read_text()
    assert "condition: only the first items change" in {check.name for check in bundle.checks()}

    # Another process reads the bundle without the file.
    file.unlink()
    document = json.loads(dyno("report", bundle.path, "--json").stdout)
    assert document["workloads"]["own_shop"]["levels"] == [level]
    assert "Shop" in Path(found["sheet"]).read_text(encoding="utf-8")

    missing_rows = shop(tmp_path, "shop", last=800)
    found = run(missing_rows, *where)
    assert "errors" in codes(found)
    assert "row_count" in json.dumps(found["reasons"])

    violated = shop(tmp_path, "shop", checked=1001)
    assert "inconsistent" in codes(run(violated, *where))
    no_server_left(tmp_path)


@pytest.mark.parametrize("target", TARGETS)
def test_every_example_runs(target: str, tmp_path: Path) -> None:
    if lacks := targets.lacks(target):
        missing(lacks)
    where = ("--target", f"embedded:{target}", "--out", tmp_path)
    loaded: set[str] = set()
    for example in own.examples():
        if workloads.named(example).kind == "dss":
            continue  # tests/own/test_decision.py
        if (family := example.partition("-")[0]) not in loaded:
            loaded.add(family)
            done = dyno("load", example, *where, "--scale", "0.1", "--json")
            assert done.returncode in {0, 1}, done.stderr
        found = run(example, *where)
        assert codes(found) == set(), example
        (level,) = next(iter(found["workloads"].values()))["levels"]
        assert (level["errors"], level["tps"] > 0) == (0, True), example
    no_server_left(tmp_path)


def test_every_target_has_sequences_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "shop.toml"
    file.write_text("""
[tables.sale]
rows = 5
key = ["id"]
columns = { id = "int row", number = "int 0" }
[draws]
id = { sequence = "sale" }
number = { sequence = 100 }
[transactions.sell]
statements = ["insert into sale values (:id, :number)"]
""")
    databases = [tmp_path / f"{name}.sqlite" for name in ("one", "two")]
    where = [word for each in databases for word in ("--target", f"sqlite:///{each}")]
    for each in databases:
        loaded = dyno("load", file, "--target", f"sqlite:///{each}", "--scale", "1",
                      "--out", tmp_path)  # fmt: skip
        assert loaded.returncode in {0, 1}, loaded.stderr
    assert codes(run(file, *where, "--out", tmp_path)) == set()
    for each in databases:
        with sqlite3.connect(each) as session:
            sold = session.execute("select id, number from sale where number >= 100").fetchall()
        ids, numbers = zip(*sold, strict=True)
        # The end may cut a transaction of each of the two users, which has taken its numbers.
        assert max(ids) - 5 <= len(ids) + 2
        assert max(numbers) - 99 <= len(numbers) + 2


def test_tables_of_ones_own_are_changed_only_with_consent(tmp_path: Path) -> None:
    database = tmp_path / "mine.sqlite"
    with sqlite3.connect(database) as session:
        session.execute("create table item (id integer primary key, n integer)")
        session.executemany(
            "insert into item values (?, 0)", [(number,) for number in range(1, 10)]
        )
    file = tmp_path / "mine.toml"
    file.write_text("""
[draws]
id = { query = "select id from item" }
[transactions.count]
statements = [{ sql = "update item set n = n + 1 where id = :id", rows = 1 }]
""")
    where = (file, "--target", f"sqlite:///{database}", "--out", tmp_path)

    def total() -> int:
        with sqlite3.connect(database) as session:
            return session.execute("select sum(n) from item").fetchone()[0]

    asked = dyno("run", *where, *BRIEF)
    assert "count of" in asked.stderr
    assert "existing tables" in asked.stderr
    assert total() == 0
    locking = tmp_path / "locking.toml"
    locking.write_text("[transactions.hold]\nstatements = ['select n from item for update']\n")
    held = dyno("run", locking, *where[1:], *BRIEF)
    assert "hold of" in held.stderr
    assert "existing tables" in held.stderr
    loaded = dyno("load", *where, "--scale", "1")
    assert loaded.returncode == 2
    assert "has no tables" in loaded.stderr
    found = run(*where, "--yes")
    (level,) = found["workloads"]["own_mine"]["levels"]
    assert total() >= level["operations"]["count"]["count"] > 0


def test_a_wide_row_is_written_as_drawn(tmp_path: Path) -> None:
    database, names = tmp_path / "mine.sqlite", [f"c{number}" for number in range(100)]
    with sqlite3.connect(database) as session:
        session.execute(f"create table wide ({', '.join(names)})")
    file = tmp_path / "wide.toml"
    draws = "\n".join(f"{name} = {{ constant = {place} }}" for place, name in enumerate(names))
    values = ", ".join(f":{name}" for name in names)
    file.write_text(f"""
[draws]
{draws}
[transactions.add]
statements = ["insert into wide values ({values})"]
""")
    found = run(file, "--target", f"sqlite:///{database}", "--out", tmp_path, "--yes")
    assert codes(found) == set()
    with sqlite3.connect(database) as session:
        rows = session.execute("select distinct * from wide").fetchall()
    assert rows == [tuple(range(100))]


def test_foreign_tables_are_not_replaced(tmp_path: Path) -> None:
    database = tmp_path / "theirs.sqlite"
    with sqlite3.connect(database) as session:
        session.execute("create table item (id integer)")
    done = dyno("load", shop(tmp_path, "shop"), "--target", f"sqlite:///{database}", "--scale", "1",
                "--replace", "--out", tmp_path)  # fmt: skip
    assert done.returncode == 2
    with sqlite3.connect(database) as session:
        columns = session.execute("select name from pragma_table_info('item')").fetchall()
    assert columns == [("id",)]


def test_a_search_and_a_dry_run_need_no_server(tmp_path: Path) -> None:
    file = shop(tmp_path, "shop")
    shown = dyno("run", file, "--target", "null:", "--dry-run", "--out", tmp_path / "out")
    assert shown.returncode == 0
    assert "copy.get: select price, name from item where id = $1" in shown.stdout
    assert "$1 price = from copy.get" in shown.stdout
    assert not (tmp_path / "out").exists()
    done = dyno("run", file, "--target", "null:?mean_us=2000", "--find-max", "--slo",
                "copy p95 < 1s", "--duration", "100ms", "--warmup", "0s", "--max-users", "4",
                "--json", "--out", tmp_path)  # fmt: skip
    assert done.returncode in {0, 1}, done.stderr
    assert json.loads(done.stdout)["workloads"]["own_shop"]["levels"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("transactions = 1", "transactions"),
        ("", "transactions is missing"),
        ("[x", "not valid TOML"),
    ],
)
def test_a_broken_file_stops_before_anything_starts(text: str, named: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    out = tmp_path / "out"
    done = dyno("run", file, "--target", "embedded:sqlite", "--out", out)
    assert done.returncode == 2
    assert named in done.stderr
    assert not out.exists()


def test_the_examples_are_listed_and_shown() -> None:
    listed = json.loads(dyno("workloads", "list", "--json").stdout)
    assert [each["name"] for each in listed] == own.examples()
    assert all(each["purpose"] for each in listed)
    shown = dyno("workloads", "show", "ycsb-a").stdout
    assert shown == (own.EXAMPLES / "ycsb-a.toml").read_text(encoding="utf-8")


@pytest.mark.long
def test_a_study_compares_runs_of_a_file(tmp_path: Path) -> None:
    study = tmp_path / "mine.toml"
    study.write_text("""
pairs = 2
headline = ["tps"]
replace = 1
[base]
workload = "ycsb-a"
target = "null:?mean_us=500"
[base.run]
users = 2
warmup = "100ms"
duration = "300ms"
no_criteria = true
[[variants]]
name = "slow"
target = "null:?mean_us=5000"
""")
    done = dyno("study", study, "--json", "--out", tmp_path / "out")
    assert done.returncode in {0, 1}, done.stderr
    assert "tps" in json.dumps(json.loads(done.stdout))
