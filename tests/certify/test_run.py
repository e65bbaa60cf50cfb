"""``dyno certify`` on a real engine, with intervals of a second."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dyno import targets
from dyno.bundle import certified
from dyno.bundle.reader import Bundle
from dyno.certificates import Certificate
from dyno.certificates.figures import FormFigures
from dyno.cli import cli
from dyno.contracts.target import Limits
from tests.conftest import missing
from tests.process import dyno, end, no_server_left, start, wait_for_phase

SHORT = ("--scale", "0.01", "--users", "2", "--warmup", "0.2s")


def certify(out: Path, *words: str | Path, duration: str = "1s") -> tuple[dict[str, Any], Bundle]:
    words = (*words, "--duration", duration)
    done = dyno("certify", *words, *SHORT, "--json", "--quiet", "--out", out)
    assert done.returncode in {0, 1}, done.stderr
    document = json.loads(done.stdout)
    return document, Bundle.open(Path(document["bundle"]))


@pytest.mark.long
def test_one_engine_in_rows_and_in_columns(out: Path) -> None:
    """Two certificates: the layout of the data sets the form."""
    if lacks := targets.lacks("clickhouse"):
        missing(lacks)
    url, names = "embedded:clickhouse", {"row": "rows", "column": "columnar"}
    found: dict[str, FormFigures] = {}
    for form, layout in names.items():
        given = ("--scale", "0.01", "--layout", layout, "--replace", "--quiet", "--out", out)
        loaded = dyno("load", "tpch", "--target", url, *given)
        assert loaded.returncode in {0, 1}, loaded.stderr
        _, bundle = certify(out, url)
        content = Certificate.model_validate(certified.record(bundle.path)["certificate"])
        (found[form],) = content.figures.forms
        assert "answers not verified" not in content.figures.marks
    assert [one.form for one in found.values()] == ["row", "column"]
    row, column = (one.compression or 0.0 for one in found.values())
    assert column > row > 0.5


@pytest.mark.long
def test_both_forms_of_one_engine_in_one_certificate(out: Path) -> None:
    """The first run loads both forms, the second measures them again."""
    if lacks := targets.lacks("clickhouse"):
        missing(lacks)
    both = ("embedded:clickhouse", "--both-forms")
    loads: list[set[str]] = []
    for _ in range(2):
        document, bundle = certify(out, *both, duration="4s")
        found = Certificate.model_validate(certified.record(bundle.path)["certificate"])
        row, column = found.figures.forms
        assert (row.form, row.target, column.form) == ("row", "clickhouse", "column")
        assert (column.compression or 0) > (row.compression or 0) > 0.5
        assert [(one["form"], one["test"]) for one in document["intervals"]] == [
            *(("row", "rate"), ("column", "rate")),
            *(("row", test) for test in ("simple", "average", "complex", "combined")),
            *(("column", test) for test in ("simple", "average", "complex", "combined")),
        ]
        words = ["certify", "verify", str(bundle.path)]
        assert CliRunner().invoke(cli, words, standalone_mode=False).return_value == 0
        checks = [one for one in bundle.checks() if one.name.startswith("answers-q")]
        assert {one.target for one in checks} == {"clickhouse in columns and clickhouse in rows"}
        assert len(checks) == 22
        assert all(one.passed for one in checks)
        loads.append({phase.name for phase in bundle.run.phases if phase.kind == "load"})
        rows = bundle.table("queries").to_pylist()
        drawn = {row["parameters"] for row in rows if row["query"] == "q06"}
        assert 2 < len(drawn) < sum(row["query"] == "q06" for row in rows)
    assert loads == [{"load-tpch-clickhouse", "load-tpch@2-clickhouse"}, set()]
    # Other data beside it is replaced only if the user says so.
    given = ("--scale", "0.02", "--replace", "--quiet", "--out", out)
    assert dyno("load", "tpch", "--target", both[0], *given).returncode in {0, 1}
    again = ("certify", *both, "--scale", "0.02", *SHORT[2:], "--duration", "1s", "--out", out)
    done = dyno(*again)
    assert done.returncode == 2
    assert "--replace" in done.stderr
    assert _scales(out) == [0.02, 0.01]
    done = dyno(*again, "--replace", "--json", "--quiet")
    assert done.returncode in {0, 1}, done.stderr
    phases = Bundle.open(Path(json.loads(done.stdout)["bundle"])).run.phases
    assert [one.name for one in phases if one.kind == "load"] == ["load-tpch@2-clickhouse"]
    assert _scales(out) == [0.02, 0.02]


def _scales(out: Path) -> list[float | None]:
    """The scales of the complete data in both databases of ClickHouse."""
    url = targets.parse("embedded:clickhouse")
    with targets.open_target(url, out, Limits(1 << 30, 1)) as target:
        found = [target.loaded(name) for name in ("tpch", "tpch@2")]
    return [one.scale if one is not None and one.complete else None for one in found]


@pytest.mark.long
@pytest.mark.parametrize("phase", ["certify-row-simple", "certify-column-simple"])
def test_an_interrupt_in_either_form_leaves_no_certificate(out: Path, phase: str) -> None:
    if lacks := targets.lacks("clickhouse"):
        missing(lacks)
    words = ("certify", "embedded:clickhouse", "--both-forms", "--duration", "1s", *SHORT)
    process = start(*words, "--quiet", "--out", out)
    wait_for_phase(process, out, phase)
    os.kill(process.pid, signal.SIGINT)
    code, _, _ = end(process)
    assert code == 130
    bundle = Bundle.open(next(out.glob("*/run.json")).parent)
    assert bundle.run.status == "interrupted"
    assert not any((bundle.path / name).exists() for name in (certified.RECORD, certified.PAGE))
    no_server_left(out)


@pytest.mark.long
def test_a_column_store_is_loaded_measured_and_certified(out: Path) -> None:
    document, bundle = certify(out, "embedded:duckdb")
    assert [Path(file).name for file in document["certificate"]] == [
        certified.PAGE,
        certified.RECORD,
    ]
    tests = [one["test"] for one in document["intervals"]]
    assert tests == ["rate", "simple", "average", "complex", "combined"]
    assert all(one["completed"] > 0 and one["failed"] == 0 for one in document["intervals"])
    found = Certificate.model_validate(certified.record(bundle.path)["certificate"])
    (one,) = found.figures.forms
    assert one.form == "column"
    assert one.compression is not None
    assert one.compression > 1
    assert one.combined.users == 2
    assert {"short", "in memory"} <= set(found.figures.marks)
    assert "answers not verified" not in found.figures.marks  # scale 0.01 has expected ones
    words = ["certify", "verify", str(bundle.path)]
    assert CliRunner().invoke(cli, words, standalone_mode=False).return_value == 0
    # Each user draws its own parameters, anew in each round.
    rows = bundle.table("queries").to_pylist()
    assert len({row["parameters"] for row in rows if row["query"] == "q06"}) > 2
    windows = {one["test"]: one for one in document["intervals"]}
    assert windows["simple"]["queries_per_h"] == pytest.approx(
        3600 * windows["simple"]["completed"], rel=1e-6
    )
    # The data is there now: another scale is refused.
    done = dyno("certify", "embedded:duckdb", "--scale", "0.02", "--quick", "--out", out)
    assert done.returncode == 2
    assert "scale 0.01" in done.stderr


@pytest.mark.long
def test_rows_and_columns_in_one_certificate(out: Path) -> None:
    both = ("embedded:postgresql", "embedded:duckdb")
    document, bundle = certify(out, *both, "--number", "7", duration="4s")
    found = Certificate.model_validate(certified.record(bundle.path)["certificate"])
    assert found.number == "7"
    row, column = found.figures.forms
    assert (row.form, column.form) == ("row", "column")
    assert row.combined.logical_mbps is not None
    assert row.combined.logical_mbps > 0
    assert row.rate is not None
    assert row.rate.mbps_per_core is not None
    roles = {(one.target, one.role) for one in found.configuration.volumes}
    assert {("postgresql", "data"), ("duckdb", "data")} <= roles
    assert len(document["intervals"]) == 10


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("embedded:duckdb", "embedded:clickhouse"), "columns"),
        (("embedded:duckdb", "embedded:duckdb"), "once"),
        (("null:",), "does not support"),
        (("embedded:duckdb", "--quick", "--duration", "5m"), "--quick"),
        (("embedded:duckdb", "--users", "0"), "--users"),
        (("embedded:duckdb", "--both-forms"), "DuckDB is a column store"),
        (("embedded:sqlite", "--both-forms"), "SQLite is a row store"),
        (("embedded:clickhouse", "embedded:postgresql", "--both-forms"), "--both-forms"),
        (("embedded:duckdb", "--sign", "/nonexistent.pem"), "key"),
        (("embedded:duckdb", "--tps", "last"), "No run"),
        (("embedded:duckbd",), "duckdb"),
        (("verfiy", "last"), "verify"),
        ((), "TARGET"),
    ],
)
def test_wrong_use_is_refused_before_anything_starts(
    out: Path, words: tuple[str, ...], reason: str
) -> None:
    done = dyno("certify", *words, "--out", out)
    assert done.returncode == 2
    assert reason in done.stderr
    assert not out.exists() or not any(out.iterdir())
