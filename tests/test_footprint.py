"""Space over the length of a step: the start, the peak between, the end."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from dyno.errors import DiskFullError, TargetError
from dyno.workspace.footprint import Meter, StepRecord, occupied
from tests.process import wait_until


def test_a_peak_between_the_ends_is_seen() -> None:
    level = {"now": 100}
    with Meter() as meter, meter.watching(lambda: level["now"]) as peak:
        level["now"] = 300
        wait_until(lambda: peak.highest == 300, "the peak to be sampled")
        level["now"] = 150
    assert (peak.first, peak.highest, peak.last) == (100, 300, 150)
    assert (peak.extra, peak.growth) == (200, 50)


def test_without_samples_there_is_growth_but_no_peak() -> None:
    values = iter([10, 25])
    with Meter() as meter, meter.watching(lambda: next(values), live=False) as peak:
        pass
    assert (peak.extra, peak.growth) == (None, 15)
    with Meter() as meter, meter.watching(None) as nothing:
        pass
    assert (nothing.extra, nothing.growth) == (None, None)


def test_the_error_of_a_step_is_not_replaced_by_that_of_its_probe() -> None:
    down = threading.Event()

    def probe() -> int:
        if down.is_set():
            raise TargetError("the server is gone")
        return 1

    def fill() -> None:
        down.set()
        raise DiskFullError("no space")

    with Meter() as meter, pytest.raises(DiskFullError), meter.watching(probe, live=False):
        fill()


def test_a_record_has_speed_where_rows_move() -> None:
    step = StepRecord("cluster t", "cluster", 2.0, "t", 10**9, 1_200, 7, 1_000).record()
    assert (step["gb_per_h"], step["ratio"]) == (1800.0, 1.2)
    still = StepRecord("index i", "index", 2.0).record()
    assert (still["gb_per_h"], still["ratio"]) == (None, None)


def written(file: Path) -> None:
    """Makes a file of a size that no file system compresses, and sees it to the disk."""
    with file.open("wb") as opened:
        opened.write(os.urandom(10_000))
        opened.flush()
        os.fsync(opened.fileno())


def test_a_file_counts_with_what_lies_beside_it(tmp_path: Path) -> None:
    file, log = tmp_path / "x.db", tmp_path / "x.db-wal"
    written(file)
    alone = occupied([file])
    written(log)
    (tmp_path / "x.db.tmp").mkdir()
    written(tmp_path / "x.db.tmp" / "spill")
    written(tmp_path / "other")
    assert alone >= 10_000
    assert occupied([file]) == 3 * alone
    assert occupied([tmp_path]) == 4 * alone
    assert occupied([tmp_path / "absent" / "x"]) == 0
