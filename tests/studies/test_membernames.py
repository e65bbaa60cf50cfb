"""Metrics of a study that contain names of transactions and queries."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno.bundle.model import Estimate
from dyno.errors import UsageError
from dyno.studies import membernames, spec
from dyno.studies.criteria import parse
from dyno.studies.metrics import find, had_by

PAY = """
[transactions.pay]
statements = ["select 1"]
[transactions.look]
statements = ["select 2"]
"""
STUDY = """
headline = ["tpm", "p95.look"]
criteria = ["p95_ms.pay < 20"]
[base]
workload = "pay.toml"
target = "null:"
[base.run]
users = 2
[[variants]]
name = "other"
workload = "other.toml"
"""


def estimate(name: str, value: float) -> Estimate:
    return Estimate(name=name, value=value, unit="", source="test")


def folder(tmp_path: Path) -> Path:
    (tmp_path / "pay.toml").write_text(PAY)
    (tmp_path / "other.toml").write_text(PAY.replace("select 1", "select 3"))
    return tmp_path


def test_a_study_names_files_beside_it_and_their_transactions(tmp_path: Path) -> None:
    (folder(tmp_path) / "study.toml").write_text(STUDY)
    found = spec.read(str(tmp_path / "study.toml"))
    assert found.headline == ("pays_per_min", "look_p95_ms")
    assert [one.workload for one in found.variants] == [
        str(tmp_path / "pay.toml"), str(tmp_path / "other.toml"),
    ]  # fmt: skip
    assert {*found.headline} < {*had_by(found.variants[0].workload, "run")}


def test_unknown_names_are_met_by_the_nearest(tmp_path: Path) -> None:
    path = folder(tmp_path) / "study.toml"
    for old, new, named in (
        ("p95.look", "p95.loko", "Did you mean 'look'?"),
        ("p95.look", "query_s.look", "has none"),
        ("p95.look", "nothing", "unknown metric 'nothing'"),
        ("p95_ms.pay", "p95_ms.pya", "Did you mean 'pay'?"),
    ):
        path.write_text(STUDY.replace(old, new))
        with pytest.raises(UsageError, match=named.replace("?", r"\?")):
            spec.read(str(path))


def test_the_values_are_those_of_the_bundle() -> None:
    found = [
        estimate("oltp.users-2.pays_per_min", 120.0),
        estimate("oltp.users-2.look.response_p95_ms", 5.0),
        estimate("oltp.users-2.pay.response_p95_ms", 9.0),
        estimate("dss.duckdb.sums.seconds", 0.5),
        estimate("dss.duckdb.others.seconds", 0.7),
    ]
    expected = {"pays_per_min": 120.0, "look_p95_ms": 5.0, "sums_query_s": 0.5}
    for name, value in expected.items():
        metric = find(name)
        assert metric is not None
        assert metric.of(found) == {name: value}
    assert find("query_s").of(found) == {"query_s.sums": 0.5, "query_s.others": 0.7}  # type: ignore[union-attr]
    assert find("nothing") is None


def test_shipped_workloads_have_short_names_too() -> None:
    assert membernames.resolved(["tpm", "p95.payment", "tps"], "tpcc") == [
        "new_orders_per_min", "payment_p95_ms", "tps",
    ]  # fmt: skip
    with pytest.raises(UsageError, match="transactions"):
        membernames.resolved(["tpm"], "tpch")
    assert parse("payment_p95_ms < 20", ["tpcc"]).metric == "payment_p95_ms"
