"""--limit on the command line: refused before anything, or in the bundle."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno.cli import cli
from dyno.confinement import places
from dyno.errors import UsageError

POSTGRESQL = ("run", "tpcc", "--target", "embedded:postgresql")
DUCKDB = ("load", "tpch", "--scale", "0.01", "--target", "embedded:duckdb")

WRONG = [
    ((*POSTGRESQL, "--limit", "memroy=1GB"), "Did you mean 'memory'?"),
    ((*POSTGRESQL, "--limit", "cpu=9999"), "give from 0.05 to"),
    ((*POSTGRESQL, "--limit", "cpus=9998"), "this machine lets Dyno use the processors"),
    ((*POSTGRESQL, "--limit", "memory=1MB"), "give 32MB at least"),
    ((*POSTGRESQL, "--limit", "memory=900TB"), "of memory"),
    ((*DUCKDB, "--limit", "memory=64MB"), "the engine works in Dyno's own process"),
    (
        ("run", "tpcc", "--target", "postgresql://bench@db1.invalid/bench", "--limit", "cpu=1"),
        "; use embedded:postgresql instead",
    ),
    (("run", "tpcc", "--target", "null:", "--limit", "cpu=1"), "private engines only"),
]


@pytest.mark.parametrize(("args", "message"), WRONG, ids=lambda value: " ".join(value)[-30:])
def test_wrong_use_touches_nothing(tmp_path: Path, args: tuple[str, ...], message: str) -> None:
    out = tmp_path / "out"
    with pytest.raises(UsageError) as caught:
        cli.main([*args, "--out", str(out)], standalone_mode=False)
    assert message in str(caught.value)
    assert not out.exists()


def test_missing_control_groups_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "folders", lambda *_: [])
    out = tmp_path / "out"
    args = [*POSTGRESQL, "--limit", "memory=1GB", "--limit", "cpus=0", "--out", str(out)]
    with pytest.raises(UsageError, match=r"no control groups for memory.*--limit cpus needs no"):
        cli.main(args, standalone_mode=False)
    assert not out.exists()


def test_limits_on_io_need_a_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = Path("/dev/shm") / tmp_path.name  # memory is no block device
    args = [*POSTGRESQL, "--limit", "read_iops=100", "--out", str(out)]
    with pytest.raises(UsageError, match="lies on no block device"):
        cli.main(args, standalone_mode=False)
    assert not out.exists()
