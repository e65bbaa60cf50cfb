"""Tables of a bundle as files for other programs."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.bundles import quickstart
from tests.process import dyno


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_every_row_of_every_table(tmp_path: Path, kind: str) -> None:
    bundle = quickstart(tmp_path).write()
    to = tmp_path / "tables"
    done = dyno("runs", "tables", bundle.path, "--to", to, "--format", kind, "--json")
    assert done.returncode == 0, done.stderr
    names = json.loads(done.stdout)["files"]
    assert {f"samples.{kind}", f"queries.{kind}", f"ops-users-16.{kind}"} <= set(names)
    for name in names:
        table = bundle.table(name.removesuffix(f".{kind}").replace("ops-", "ops/"))
        if kind == "parquet":
            assert pq.read_table(to / name).equals(table)
            continue
        with (to / name).open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert [row["t_ns"] for row in rows] == [str(t_ns) for t_ns in table["t_ns"].to_pylist()]
        assert list(rows[0]) == table.column_names


def test_existing_files_stay(tmp_path: Path) -> None:
    bundle = quickstart(tmp_path).write()
    to = tmp_path / "tables"
    to.mkdir()
    (to / "queries.csv").write_text("mine")
    done = dyno("runs", "tables", bundle.path, "--to", to)
    assert done.returncode == 2
    assert "queries.csv exists" in done.stderr
    assert [path.name for path in to.iterdir()] == ["queries.csv"]
    assert (to / "queries.csv").read_text() == "mine"
    assert dyno("runs", "tables", bundle.path, "--to", to, "--yes").returncode == 0
    assert (to / "queries.csv").read_text() != "mine"


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    bundle = quickstart(tmp_path).write()
    to, mine = tmp_path / "tables", tmp_path / "mine"
    to.mkdir()
    mine.write_text("mine")
    (to / "samples.csv").symlink_to(mine)
    assert dyno("runs", "tables", bundle.path, "--to", to, "--yes").returncode == 2
    assert mine.read_text() == "mine"
