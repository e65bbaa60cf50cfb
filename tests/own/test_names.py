"""Names of files' workloads, wherever schemas, bundles and studies have them."""

from __future__ import annotations

import pytest

from dyno import workloads
from dyno.bundle import statements
from dyno.contracts import databases
from dyno.errors import UsageError

RECORDED = {
    "file": "mine.toml", "sha256": "0" * 64, "text": "", "title": "Mine",
    "mix": {"pay": 0.5, "look": 0.5}, "main": "pay", "plural": "pays",
}  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        ("dyno_own_shop", "own_shop"),
        ("dyno_own_web_shop", "own_web_shop"),
        ("dyno_own_shop_2", "own_shop@2"),
        ("dyno_own_", None),
        ("dyno_owned", None),
        ("own_shop", None),
    ],
)
def test_schemas_of_files_are_found(schema: str, name: str | None) -> None:
    assert databases.in_schemas(["tpcc"], [schema]) == ([] if name is None else [name])
    if name is not None:
        assert databases.schema_of(name) == schema


def test_a_bundle_tells_the_names_of_its_workload() -> None:
    assert workloads.known("own_elsewhere") is None
    statements.remember(("own_elsewhere",), {statements.KEY: RECORDED})
    found = workloads.known("own_elsewhere")
    assert found is not None
    assert found.transactions.per_min == "pays_per_min"
    assert found.operations == ("pay", "look")
    with pytest.raises(UsageError, match=r"mine\.toml"):
        found.check("null", lambda: pytest.fail("no session"), None, "run")  # pyright: ignore


@pytest.mark.parametrize(
    "change", [{"mix": "x"}, {"main": "a b"}, {"mix": {"<b>": 1.0}}, {"extra": 1}, {"main": None}]
)
def test_a_record_that_is_none_is_ignored(change: dict[str, object]) -> None:
    statements.remember(("own_wrong",), {statements.KEY: {**RECORDED, **change}})
    assert workloads.known("own_wrong") is None
