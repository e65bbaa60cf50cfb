"""How full file systems are: as df prints it, and without waiting for one that is gone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from dyno.stages.observe.fill import FillProbe
from tests.conftest import missing


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 MiB, half full."""
    if os.geteuid() != 0:
        missing("root, to mount a file system")
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "dyno-test", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        missing("the right to mount a file system in memory")
    (folder / "half").write_bytes(bytes(4 << 20))
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def percent(path: Path) -> float:
    """What df(1) prints, which rounds up."""
    shown = subprocess.run(
        ["df", "--output=pcent", path], check=True, capture_output=True, text=True
    )
    return float(shown.stdout.split()[-1].rstrip("%"))


def test_a_role_is_as_full_as_its_fullest_file_system(small: Path, tmp_path: Path) -> None:
    probe = FillProbe({"data": [tmp_path, small], "log": [small / "not" / "there yet"]})
    found = {row.subject: row.value for row in probe.read(0)}
    assert found["log"] == 50.0
    assert found["data"] == pytest.approx(max(50.0, percent(tmp_path)), abs=1.0)
    (small / "more").write_bytes(bytes(2 << 20))
    assert {row.value for row in probe.read(1) if row.subject == "log"} == {75.0}


def test_a_path_that_cannot_be_read_is_left_out() -> None:
    too_long = Path("/") / ("x" * 300)
    assert FillProbe({"data": [too_long], "log": []}).read(0) == []
