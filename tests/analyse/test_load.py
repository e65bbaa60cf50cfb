"""Metrics of loads: whole ones, and ones that went on with an interrupted load."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno.analyse import estimate
from tests.bundles import Builder


def found(builder: Builder) -> dict[str, float]:
    names = ("load.", "index.")
    return {one.name: one.value for one in estimate(builder.write()) if one.name.startswith(names)}


def test_a_whole_load_has_its_speed(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run", "load").target("postgresql")
    known = found(builder.load("tpch", "postgresql", 8.0, 1.0))
    assert known["load.tpch.postgresql.seconds"] == 8
    assert known["load.tpch.postgresql.rows_per_s"] > 0
    assert known["index.tpch.postgresql.seconds"] == pytest.approx(5.6)


@pytest.mark.parametrize("rows", [1000, 0])
def test_a_load_that_went_on_has_no_speed(tmp_path: Path, rows: int) -> None:
    builder = Builder(tmp_path / "run", "load").target("postgresql")
    builder.load("tpch", "postgresql", 8.0, 1.0)
    builder.phases[-3].detail.update(rows=rows, resumed_parts=7, resumed_rows=9000)
    known = found(builder)
    assert known["load.tpch.postgresql.rows"] == 9000 + rows
    assert "load.tpch.postgresql.seconds" not in known
    assert "load.tpch.postgresql.rows_per_s" not in known
    # Without missing rows, the first load had begun with the indexes, and some were there.
    assert ("index.tpch.postgresql.seconds" in known) is (rows > 0)
