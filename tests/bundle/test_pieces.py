"""Tables that are compressed while the run goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dyno.bundle import members
from dyno.bundle.reader import Bundle
from dyno.bundle.writer import Recorder


def rows(first: int, count: int = 50) -> list[dict[str, Any]]:
    return [
        {
            "t_ns": at,
            "source": "cpu",
            "subject": "host",
            "metric": ("busy", "idle")[at % 2],
            "value": at / 7,
            "unit": "%",
        }
        for at in range(first, first + count)
    ]


def recorder(out: Path) -> Recorder:
    found = Recorder(out, "watch", {}, ())
    for piece in range(3):
        found.add("samples", rows(50 * piece))
        found.rotate("samples")
    found.add("samples", rows(150))
    return found


def by_time(bundle: Bundle) -> list[dict[str, Any]]:
    return sorted(bundle.table("samples").to_pylist(), key=lambda row: row["t_ns"])


def test_a_recorder_that_was_killed_leaves_all_rows_readable(tmp_path: Path) -> None:
    found = recorder(tmp_path)
    bundle = Bundle.open(found.path)
    assert bundle.table("samples").to_pylist() == rows(0, 200)
    names = set(members.content(found.path).members)
    assert {"pieces/samples-000001.parquet", "pieces/samples-000003.parquet"} <= names
    assert "pieces" in members.content(found.path).folders
    found.close()


def test_the_end_joins_them(tmp_path: Path) -> None:
    found = recorder(tmp_path)
    found.finish("done")
    assert not (found.path / "pieces").exists()
    assert not (found.path / "samples.jsonl").exists()
    assert by_time(Bundle.open(found.path)) == rows(0, 200)
    table = Bundle.open(found.path).table("samples")
    assert table.column("metric").to_pylist() == ["busy"] * 100 + ["idle"] * 100
    found.close()


@pytest.mark.parametrize("at", ["before", "after"])
def test_a_kill_while_joining_neither_loses_nor_doubles_rows(tmp_path: Path, at: str) -> None:
    found = recorder(tmp_path)
    kept = {path: path.read_bytes() for path in (found.path / "pieces").iterdir()}
    if at == "after":
        found.finish("done")
        (found.path / "pieces").mkdir()
        for path, content in kept.items():
            path.write_bytes(content)
    else:
        # The last piece was moved, but not yet converted.
        found.close_spools()
        (found.path / "samples.jsonl").rename(found.path / "pieces" / "samples-000004.jsonl")
    assert by_time(Bundle.open(found.path)) == rows(0, 200)
    found.close()


def test_nothing_to_compress_is_nothing(tmp_path: Path) -> None:
    found = Recorder(tmp_path, "watch", {}, ())
    found.rotate("samples")
    found.finish("done")
    assert Bundle.open(found.path).table("samples").num_rows == 0
    found.close()
