"""Settings and cold starts on the command line: into the bundle, or refused before anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.reader import list_bundles
from dyno.cli import cli
from dyno.errors import UsageError
from tests.process import dyno

DUCKDB = ("--target", "embedded:duckdb")
SQLITE = ("--target", "embedded:sqlite")
POSTGRESQL = ("--target", "embedded:postgresql")
MYSQL = ("--target", "embedded:mysql")
ELSEWHERE = ("--target", "postgresql://bench@db1.invalid/bench")
RUN, LOAD = ("run", "tpch"), ("load", "tpch", "--scale", "0.01")

WRONG = [
    ((*RUN, *DUCKDB, "--set", "large_pages=on"), "transparent huge pages"),
    ((*RUN, *DUCKDB, "--set", "large_pages=on"), "It has: memory, parallelism, work_memory"),
    ((*LOAD, *DUCKDB, "--set", "checkpoint_interval=1m"), "Did you mean 'checkpoint_size'?"),
    ((*LOAD, *SQLITE, "--set", "checksums=on"), "no page checksums"),
    (
        (*RUN, *SQLITE, "--set", "work_memory=1MB"),
        "It has: memory, parallelism, temp_path, commit, che",
    ),
    ((*RUN, *SQLITE, "--set", "parallelism=64"), "helpers; use 1 to"),
    ((*LOAD, *POSTGRESQL, "--set", "temp_path=/tmp"), "temp_tablespaces"),
    ((*RUN, *POSTGRESQL, "--set", "memroy=1GB"), "Did you mean 'memory'?"),
    ((*RUN, *POSTGRESQL, "--set", "memory=900TB"), "this machine has"),
    ((*RUN, *POSTGRESQL, "--set", "memory=64kB"), "is 128kB"),
    ((*RUN, *ELSEWHERE, "--set", "memory=50%"), "use bytes"),
    ((*RUN, *MYSQL, "--set", "parallelism=2"), "a query in one thread"),
    ((*RUN, *MYSQL, "--set", "parallelism=2"), "It has: memory, work_memory, temp_limit"),
    ((*RUN, *MYSQL, "--set", "checksums=off"), "pages always have checksums"),
    (("run", "tpcc", "--target", "null:", "--set", "memory=1GB"), "does not support settings"),
    ((*RUN, *DUCKDB, "--settings", "/no/such.toml"), "Cannot read"),
    ((*RUN, *ELSEWHERE, "--cold"), "only embedded:postgresql starts cold"),
    ((*RUN, "--target", "mysql://db1.invalid/", "--cold"), "only embedded:mysql starts cold"),
    ((*RUN, *DUCKDB, "--cold", "--cold-each-query"), "cannot be combined"),
    ((*RUN, *DUCKDB, "--cold", "--no-warming"), "first pass"),
    ((*RUN, *DUCKDB, "--cold-each-query", "--refresh"), "closing the engine before each query"),
    (("run", "tpcc", *POSTGRESQL, "--cold"), "--cold applies to queries"),
]


@pytest.mark.parametrize(("args", "message"), WRONG, ids=lambda value: " ".join(value)[-40:])
def test_wrong_use_touches_nothing(tmp_path: Path, args: tuple[str, ...], message: str) -> None:
    out = tmp_path / "out"
    with pytest.raises(UsageError) as caught:
        cli.main([*args, "--out", str(out)], standalone_mode=False)
    assert message in str(caught.value)
    assert not out.exists()


@pytest.mark.long
def test_they_reach_the_bundle_the_document_and_the_report(out: Path) -> None:
    file = out / "settings.toml"
    file.write_text('[settings]\nparallelism = 1\nmemory = "1GB"\n')
    given = ("--settings", file, "--set", "memory=300MB", "--json", "--out", out)
    load = dyno(*LOAD, *DUCKDB, *given)
    assert load.returncode in {0, 1}, load.stderr  # 1: the machine was busy
    assert "memory=300MB → memory_limit = 300.0 MiB" in load.stderr
    for _ in range(5):
        run = dyno(*RUN, *DUCKDB, *given, "--cold")
        document: dict[str, Any] = json.loads(run.stdout)
        proof = document["cache"]["proofs"]["duckdb"]
        # Another program may have emptied the machine's cache already.
        if proof["before_bytes"] > 0.5 * proof["bytes"]:
            break
        (out / "engines" / "duckdb" / "dyno.duckdb").read_bytes()
    assert run.returncode == (0 if document["valid"] else 1), run.stderr
    memory, parallelism = document["settings"]["duckdb"]
    assert (memory["name"], memory["found"]) == ("memory_limit", "300.0 MiB")
    assert (parallelism["name"], parallelism["found"]) == ("threads", "1")
    assert memory["restored"] is True
    assert document["cache"]["state"] == "cold"
    assert proof["before_bytes"] > 0.5 * proof["bytes"] > 0
    assert proof["left_share"] <= 0.01
    bundle = list_bundles(out)[0]
    assert bundle.run.plan["settings"] == {"memory": "300MB", "parallelism": "1"}
    assert bundle.run.targets["duckdb"].settings["threads"] == "1"
    report = (bundle.path / "sheet.html").read_text(encoding="utf-8")
    assert "Changed on DuckDB for this run" in report
    assert "evicted its files" in report

    again = dyno(*RUN, *DUCKDB, "--no-warming", "--json", "--out", out)
    plain = json.loads(again.stdout)
    assert plain["settings"] == {}
    assert plain["cache"] == {"state": "first", "tests": {"power": "first"}, "proofs": {}}
    assert list_bundles(out)[0].run.targets["duckdb"].settings["memory_limit"] != "300.0 MiB"

    each = dyno(*RUN, *DUCKDB, "--cold-each-query", "--json", "--out", out)
    result = json.loads(each.stdout)
    assert result["cache"]["state"] == "cold-each-query"
    assert result["cache"]["proofs"]["duckdb"]["times"] == 22
    power = result["tpch"]["engines"]["duckdb"]
    total = sum(query["seconds"] for query in power["queries"])
    assert power["power_total_s"] == pytest.approx(total)
