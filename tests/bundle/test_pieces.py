"""Tables that are compressed while the run goes on."""

from __future__ import annotations

import random
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
            "value": at / 8,
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
    assert by_time(bundle) == rows(0, 200)
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


def test_samples_lose_nothing_that_a_probe_knew(tmp_path: Path) -> None:
    whole = [0.0, -3.0, 23_530_811_392.0, float(2**53 - 1)]
    fractions = [1 / 3, -1e-9 / 7, 99.999999999, 1e15 + 0.3, 123_456.789]
    given = [*whole, *fractions, None]
    found = Recorder(tmp_path, "watch", {}, ())
    same = {"source": "memory", "subject": "host", "metric": "available", "unit": "B"}
    for at, value in enumerate(given):
        found.add("samples", [{"t_ns": at, **same, "value": value}])
    found.rotate("samples")
    found.finish("done")
    stored = Bundle.open(found.path).table("samples").column("value").to_pylist()
    assert stored[: len(whole)] == whole
    assert stored[len(whole) : -1] == pytest.approx(fractions, rel=2**-21)
    assert stored[len(whole)] != 1 / 3, "nothing was shortened"
    assert stored[-1] is None
    found.close()


def test_a_recording_of_fractions_takes_less_than_half_of_their_bytes(tmp_path: Path) -> None:
    chance = random.Random(1)
    found = Recorder(tmp_path, "watch", {}, ())
    series = [("disk", f"nvme{at}n1", "read_iops") for at in range(10)]
    for second in range(2000):
        found.add("samples", [
            {"t_ns": second * 10**9 + second % 7, "source": source, "subject": subject,
             "metric": metric, "value": chance.gammavariate(2, 20), "unit": "1/s"}
            for source, subject, metric in series
        ])  # fmt: skip
        if second % 500 == 499:
            found.rotate("samples")
    found.finish("done")
    assert (found.path / "samples.parquet").stat().st_size < 2000 * len(series) * 8 / 2
    found.close()


@pytest.mark.parametrize("open_with", ["pandas", "duckdb"])
def test_others_can_read_it(tmp_path: Path, open_with: str) -> None:
    found = recorder(tmp_path)
    found.finish("done")
    path = found.path / "samples.parquet"
    module = pytest.importorskip(open_with)
    if open_with == "pandas":
        total = module.read_parquet(path)["value"].sum()
    else:
        (total,) = module.connect().execute(f"SELECT sum(value) FROM '{path}'").fetchone()
    assert total == pytest.approx(sum(row["value"] for row in rows(0, 200)))
    found.close()
