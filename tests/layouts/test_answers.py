"""The command line end to end: loads with layouts are whole, and answers stay what they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dyno import targets, workloads
from dyno.bundle.reader import Bundle
from dyno.contracts.target import Limits, QueryResult
from dyno.workloads.answers import compare_engines
from dyno.workspace.footprint import occupied
from tests.process import dyno, no_server_left, spoilt

SCALE = 0.01
LIMITS = Limits(memory_bytes=256 << 20, threads=2)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, Any]]]:
    """PostgreSQL in four partitions on two volumes and DuckDB clustered, with their documents."""
    out = tmp_path_factory.mktemp("layouts")
    documents: dict[str, Any] = {}
    layouts = (("postgresql", "partitioned-4", "--spread=2"), ("duckdb", "clustered", "--yes"))
    for name, layout, more in layouts:
        done = dyno(
            "load", "tpch", "--target", f"embedded:{name}", "--scale", str(SCALE),
            "--layout", layout, more, "--streams", "3", "--json", "--out", out,
        )  # fmt: skip
        assert done.stdout, done.stderr
        documents[name] = json.loads(done.stdout)
        assert not spoilt(documents[name])
    yield out, documents
    no_server_left(out)


def test_the_bundle_has_layout_and_steps(loaded: tuple[Path, dict[str, Any]]) -> None:
    for name, document in loaded[1].items():
        bundle = Bundle.open(Path(document["bundle"]))
        assert all(check.passed for check in bundle.checks())
        assert bundle.run.plan["layout"] == document["layout"]
        assert "lineitem" in document["layout"]["tables"]
        steps = document["tpch"]["engines"][name]["load_steps"]
        assert [step["kind"] for step in steps[:2]] == ["create", "load"]
        assert steps[1]["gb_per_h"] > 0
        assert steps[1]["extra_peak_bytes"] >= steps[1]["extra_rest_bytes"] > 1_000_000
        report = Path(document["sheet"]).read_text(encoding="utf-8")
        assert "Steps of the load into" in report
        assert ("4 partitions by l_shipdate" in report) == (name == "postgresql")


def test_what_is_spread_lies_on_each_of_the_volumes(
    loaded: tuple[Path, dict[str, Any]],
) -> None:
    out, documents = loaded
    layout = documents["postgresql"]["layout"]
    home = out / "engines" / "postgresql" / "volumes"
    parts = [part["volume"] for part in layout["tables"]["lineitem"]["partitions"]]
    assert parts == [str(home / one) for one in ("1", "2", "1", "2")]
    for volume in ("1", "2"):
        assert occupied([home / volume]) > 5_000_000
    assert any("on one device" in note for note in layout["notes"])


def test_the_22_answers_are_the_same(loaded: tuple[Path, dict[str, Any]]) -> None:
    queries = workloads.get("tpch").queries
    answers: dict[str, list[QueryResult]] = {}
    for name in ("postgresql", "duckdb"):
        url = targets.parse(f"embedded:{name}")
        with (
            targets.open_target(url, loaded[0], LIMITS) as target,
            closing(target.connect("tpch")) as session,
        ):
            answers[name] = [
                session.execute(target.sql("tpch", query.name, query.text(query.validation(SCALE))))
                for query in queries
            ]
    for query, one, other in zip(queries, *answers.values(), strict=True):
        assert compare_engines(one.rows, other.rows, query.rules) == [], query.name


def test_a_run_records_the_layout_that_it_found(loaded: tuple[Path, dict[str, Any]]) -> None:
    out, documents = loaded
    done = dyno("run", "tpch", "--target", "embedded:duckdb", "--json", "--out", out)
    document = json.loads(done.stdout)
    assert document["layout"] == documents["duckdb"]["layout"]
    assert "clustered by l_shipdate" in Path(document["sheet"]).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("url", "layout", "code", "message"),
    [
        ("embedded:duckdb", "partitioned-4", 2, "DuckDB has no table partitions"),
        ("embedded:duckdb", "clusterd", 2, "Did you mean 'clustered'? Known: bare"),
        ("embedded:postgresql", "mine.toml", 3, "/no/such/volume (for data) does not exist"),
        ("postgresql://nobody@127.0.0.1:1/x", "log.toml", 2, "initdb --waldir"),
        ("mysql://nobody@127.0.0.1:1/", "log.toml", 2, "set innodb_log_group_home_dir"),
        ("embedded:mysql", "columnar", 2, "MariaDB ColumnStore is a separate storage engine"),
    ],
)
def test_a_layout_is_refused_before_anything_is_touched(
    tmp_path: Path, out: Path, url: str, layout: str, code: int, message: str
) -> None:
    (tmp_path / "mine.toml").write_text('[volumes]\ndata = "/no/such/volume"')
    (tmp_path / "log.toml").write_text('[volumes]\nlog = "/tmp"')
    done = dyno(
        "load", "tpch", "--target", url, "--scale", "0.01", "--layout", layout, "--out", out,
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == code
    assert message in done.stderr
    assert list(out.iterdir()) == []


def test_layouts_are_listed_and_cleaned(tmp_path: Path, out: Path) -> None:
    listed = json.loads(dyno("layouts", "list", "--json").stdout)
    assert "partitioned-8" in {item["name"] for item in listed}
    shown = dyno("layouts", "show", "partitioned-8")
    assert "count = 8" in shown.stdout
    (tmp_path / "mine.toml").write_text(f'[volumes]\ntemp = "{tmp_path}"')
    done = dyno(
        "load", "tpch", "--target", "embedded:duckdb", "--scale", "0.01", "--json",
        "--layout", tmp_path / "mine.toml", "--out", out,
    )  # fmt: skip
    assert done.stdout, done.stderr
    assert "are on one device" in str(json.loads(done.stdout)["layout"]["notes"])
    (place,) = tmp_path.glob("dyno-*")
    cleaned = json.loads(dyno("clean", "--yes", "--json", "--out", out).stdout)
    assert str(place) in cleaned["removed"]
    assert not place.exists()
