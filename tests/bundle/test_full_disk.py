"""A disk that is full for a moment costs the rows of that moment, and no others."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dyno.bundle.reader import Bundle
from dyno.bundle.tables import read_lines
from dyno.bundle.writer import Recorder
from dyno.errors import DynoError, UsageError

ROW = {"t_ns": 1, "source": "cpu", "subject": "", "metric": "busy", "value": 1.0, "unit": "%"}


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(tmp_path / "out", "run", {}, ())


@contextmanager
def no_more_than(size: int) -> Iterator[None]:
    """Files of this process cannot grow beyond ``size``: a write to the end of one is cut."""
    usual, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (usual, most))


def test_rows_after_a_cut_write_are_whole(recorder: Recorder) -> None:
    recorder.add("samples", [ROW])
    spool = recorder.spool("samples")
    with no_more_than(spool.stat().st_size + 40), pytest.raises(DynoError):
        recorder.add("samples", [{**ROW, "t_ns": 2}, {**ROW, "t_ns": 3}])
    recorder.add("samples", [{**ROW, "t_ns": 4}])
    assert [row["t_ns"] for row in read_lines(spool)] == [1, 4]
    recorder.finish("done")
    assert Bundle.open(recorder.path).table("samples").column("t_ns").to_pylist() == [1, 4]


def test_an_event_is_in_the_journal_or_an_error(recorder: Recorder) -> None:
    journal = recorder.path / "events.jsonl"
    with no_more_than(journal.stat().st_size + 30), pytest.raises(DynoError):
        recorder.event("lost", reason="full")
    recorder.event("kept", reason="there is space again")
    events = [json.loads(line)["event"] for line in journal.read_text().splitlines()]
    assert events == ["run-started", "kept"]


@pytest.mark.parametrize("damage", ['{"t_ns":1,"stre{"t_ns":2}', '{"t_ns":"soon"}'])
def test_a_damaged_table_costs_neither_the_head_nor_the_other_tables(
    recorder: Recorder, damage: str
) -> None:
    recorder.add("samples", [ROW])
    recorder.spool("queries").write_text(f"{damage}\n")
    with pytest.raises(UsageError):
        recorder.finish("done")
    bundle = Bundle.open(recorder.path)
    assert bundle.run.status == "failed"
    assert "queries.jsonl" in str(bundle.run.error)
    assert (recorder.path / "samples.parquet").exists()
    assert (recorder.path / "queries.jsonl").exists()
