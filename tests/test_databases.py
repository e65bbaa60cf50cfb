"""Names of several databases of a workload."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dyno import targets, workloads
from dyno.contracts import databases, schema
from dyno.contracts.target import Limits, Loaded, Target
from dyno.errors import UsageError
from dyno.runner.databases import loaded_in_all
from dyno.targets import mark


def test_the_first_has_the_name_of_the_workload() -> None:
    assert databases.names("tpcc", 3) == ["tpcc", "tpcc@2", "tpcc@3"]
    assert [mark.schema_of(name) for name in databases.names("tpcc", 2)] == [
        "dyno_tpcc",
        "dyno_tpcc_2",
    ]
    assert schema.tables("tpcc@2") == schema.tables("tpcc")
    assert workloads.get("tpcc@12") is workloads.get("tpcc")


@pytest.mark.parametrize("name", ["tpcc@1", "tpcc@0", "tpcc@02", "tpcc@x", "tpcc@", "tpcd@2"])
def test_other_names_are_no_databases(name: str) -> None:
    with pytest.raises(UsageError):
        workloads.get(name)


def test_a_user_names_workloads_only() -> None:
    assert workloads.named("tpcc").name == "tpcc"
    with pytest.raises(UsageError, match="Did you mean 'tpcc'"):
        workloads.named("tpcc@2")


def test_a_mark_is_of_one_database() -> None:
    comment = mark.write("tpcc@2", None)
    assert mark.is_mark(comment, "tpcc@2")
    assert not mark.is_mark(comment, "tpcc")
    assert not mark.is_mark(mark.write("tpcc", None), "tpcc@2")


def test_schemas_are_distinguished() -> None:
    names = ["public", "dyno_tpcc", "dyno_tpcc_2", "dyno_tpcc_02", "dyno_tpcc_1", "dyno_tpcc_x"]
    names += ["dyno_tpch_11", "dyno_tpcc_2_2", "dyno_", "tpcc_3", "dyno_other_2", "tpcc"]
    found = databases.in_schemas(["tpch", "tpcc"], names)
    assert found == ["tpcc", "tpcc@2", "tpch@11"]


FIRST = Loaded(2.0, seed=7, complete=True, days=30, layout='{"name": "a"}')


def holding(other: Loaded, monkeypatch: pytest.MonkeyPatch) -> Target:
    """A target that holds a first database, and another one."""
    target = targets.open_target(targets.parse("embedded:duckdb"), Path(), Limits(1 << 28, 1))
    held = {"tpcc": FIRST, "tpcc@2": other}
    monkeypatch.setattr(target, "loaded", held.get)
    return target


@pytest.mark.parametrize(
    "changed",
    [{"scale": 3.0}, {"days": 60}, {"days": None}, {"seed": 8}, {"layout": ""}],
    ids=str,
)
def test_databases_with_different_data_are_refused(
    changed: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    target = holding(replace(FIRST, **changed), monkeypatch)
    with pytest.raises(UsageError, match=next(iter(changed))):
        loaded_in_all(target, "tpcc", None, 2)


def test_what_queries_did_to_a_database_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    target = holding(replace(FIRST, update_sets=3), monkeypatch)
    assert list(loaded_in_all(target, "tpcc", None, 2)) == ["tpcc", "tpcc@2"]
