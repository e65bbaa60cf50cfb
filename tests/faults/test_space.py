"""A disk that is full before the work, and one that fills during it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno import targets
from dyno.bundle.reader import list_bundles
from tests.conftest import missing
from tests.faults.conftest import resized, shrunk
from tests.process import dyno, end, no_server_left, start, wait_for_phase, wait_until


def test_too_little_space_is_reported_before_the_start(small: Path) -> None:
    done = dyno("quickstart", "--scale", "1", "--out", small / "out")
    assert done.returncode == 3
    assert "needs" in done.stderr
    assert "GB" in done.stderr
    assert not list(small.glob("out/*/run.json"))
    load = dyno(
        "load", "tpch", "--target", "embedded:duckdb", "--scale", "10", "--out", small / "out"
    )
    assert load.returncode == 3
    assert "needs" in load.stderr


@pytest.mark.long
@pytest.mark.parametrize("engine", ["postgresql", "duckdb", "clickhouse"])
def test_a_disk_that_fills_during_the_load(small: Path, engine: str) -> None:
    if lacks := targets.lacks(engine):
        missing(lacks)
    out = small / "out"
    assert resized(small, 8 << 30)  # takes no memory before it is filled
    # A load of a few gigabytes: it goes on for long after it was seen to have begun.
    process = start("load", "tpch", "--target", f"embedded:{engine}", "--scale", "1", "--out", out)
    wait_for_phase(process, out, f"load-tpch-{engine}")
    wait_until(lambda: shrunk(small, 20 << 20), "the space to be taken away")
    code, _, errors = end(process)
    assert code == 3, errors
    assert "space" in errors.lower() or "full" in errors.lower(), errors
    assert "Traceback" not in errors
    no_server_left(out)
    (bundle,) = list_bundles(out)
    assert bundle.run.status in {"failed", "running"}


@pytest.mark.parametrize("file_format", ["tbl", "parquet", "arrow"])
def test_a_disk_that_files_fill(small: Path, file_format: str) -> None:
    assert shrunk(small, 1 << 20)
    folder = small / "rows"
    command = ("generate", "tpch", "--scale", "0.05", "--format", file_format, "--to", folder)
    done = dyno(*command)
    assert done.returncode == 3, done.stderr
    assert "No space left" in done.stderr or "disk" in done.stderr.lower()
    assert not list(folder.glob(".*"))
