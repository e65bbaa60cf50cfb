"""Bundles of others: damage is reported in one line, and nothing else happens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dyno.analyse import estimate
from dyno.bundle.reader import Bundle
from dyno.errors import UsageError
from tests.bundles import Builder, quickstart

Spoil = Callable[[list[dict[str, Any]]], None]


def absurd_times(rows: list[dict[str, Any]]) -> None:
    rows[-1]["t_ns"] = 9_000_000_000_000_000_000


def set_all(**fields: Any) -> Spoil:
    def spoil(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            row.update(fields)

    return spoil


@pytest.mark.parametrize(
    ("table", "spoil"),
    [
        ("ops/users-1", set_all(response="garbage")),
        ("ops/users-1", set_all(t_ns=None)),
        ("ops/users-1", set_all(done=None)),
        ("ops/users-1", absurd_times),
        ("io", set_all(read_latency="AAAA")),
        ("io", set_all(queue_depth=None)),
        ("queries", set_all(t_ns=None)),
    ],
)
def test_unusable_rows(tmp_path: Path, table: str, spoil: Spoil) -> None:
    builder = quickstart(tmp_path)
    spoil(builder.tables[table])
    with pytest.raises(UsageError, match="damaged") as caught:
        estimate(builder.write())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content", ["{", '{"a": 1}', "[1]", '[{"name": "x"}]', "\xff", "[" * 10**5], ids=range(6)
)
@pytest.mark.parametrize("name", ["checks", "estimates", "findings"])
def test_a_damaged_list_is_reported_in_one_line(tmp_path: Path, name: str, content: str) -> None:
    bundle = quickstart(tmp_path).write()
    (bundle.path / f"{name}.json").write_text(content, encoding="latin-1")
    with pytest.raises(UsageError, match=rf"{name}\.json cannot be read") as caught:
        getattr(bundle, name)()
    assert "\n" not in str(caught.value)
    assert ("dyno report" in str(caught.value)) == (name != "checks")


@pytest.mark.parametrize("content", ["{", "{}", "[]", '{"run": 1}', "\xff"])
def test_a_head_that_cannot_be_read_says_what_to_do(tmp_path: Path, content: str) -> None:
    bundle = quickstart(tmp_path).write()
    (bundle.path / "run.json").write_text(content, encoding="latin-1")
    with pytest.raises(UsageError, match="run again") as caught:
        Bundle.open(bundle.path)
    assert "\n" not in str(caught.value)
    assert "validation error" not in str(caught.value)


@pytest.mark.parametrize("table", ["io", "queries", "samples", "ops/users-4"])
def test_a_table_of_garbage(tmp_path: Path, table: str) -> None:
    bundle = quickstart(tmp_path).write()
    (bundle.path / f"{table}.parquet").write_bytes(b"no parquet at all")
    with pytest.raises(UsageError, match="damaged"):
        estimate(bundle)


@pytest.mark.parametrize(
    ("table", "fields"),
    [
        ("samples", {"value": float("nan")}),
        ("samples", {"value": float("inf")}),
        ("samples", {"t_ns": None}),
        ("io", {"seconds": 0.0}),
        ("io", {"errors": "not json"}),
        ("ops/users-1", {"errors": "[]", "retries": None}),
        ("ops/users-1", {"seconds": 0.0}),
        ("queries", {"seconds": None}),
    ],
)
def test_rows_that_say_nothing_are_left_out(
    tmp_path: Path, table: str, fields: dict[str, Any]
) -> None:
    builder = quickstart(tmp_path)
    set_all(**fields)(builder.tables[table])
    assert estimate(builder.write())


@pytest.mark.parametrize(
    "value",
    ["many", True, None, float("nan"), 10**400, [1]],
    ids=["text", "true", "null", "nan", "huge", "list"],
)
def test_details_of_another_kind(tmp_path: Path, value: Any) -> None:
    builder = Builder(tmp_path / "run").io().oltp(1)
    for at, phase in enumerate(builder.phases):
        detail = dict.fromkeys(phase.detail, value)
        if phase.kind == "oltp":
            detail |= {"level": "users-1", "outcome": {"seconds": value, "threads": value}}
        builder.phases[at] = phase.model_copy(update={"detail": detail})
    assert estimate(builder.write())
