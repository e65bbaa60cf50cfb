"""The log of a server on flash, and back."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.accelerate.attach.cluster import Cluster
from tests.process import dyno


@pytest.fixture
def flash(tmp_path: Path) -> Path:
    folder = tmp_path / "flash"
    folder.mkdir()
    return folder


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Stopped, with a table of one row."""
    if os.geteuid() != 0:
        pytest.skip("the server's user differs, so this needs root")
    above = tmp_path / "data"
    above.mkdir()
    found = Cluster(above)
    found.make()
    found.start()
    found.ask("CREATE TABLE noted AS SELECT 1 AS value")
    found.stop()
    yield found
    found.end()


def move(folder: Path, *how: str | Path) -> subprocess.CompletedProcess[str]:
    return dyno("accelerate", "log", folder, *how, "--yes")


def insert(cluster: Cluster) -> str:
    """Adds a row, crashes the server, and counts what recovery finds."""
    cluster.start()
    cluster.ask("INSERT INTO noted VALUES (2)")
    cluster.run("pg_ctl", "-D", cluster.folder, "-m", "immediate", "stop")
    cluster.start()
    found = cluster.ask("SELECT count(*) FROM noted")
    cluster.stop()
    return found


def test_the_log_goes_to_flash_and_back(cluster: Cluster, flash: Path) -> None:
    log = cluster.folder / "pg_wal"
    done = move(cluster.folder, "--flash", flash)
    assert done.returncode == 0, done.stderr
    assert log.resolve().is_relative_to(flash)
    assert insert(cluster) == "2"
    done = move(cluster.folder, "--back")
    assert done.returncode == 0, done.stderr
    assert log.is_dir()
    assert not log.is_symlink()
    assert not any(flash.iterdir())
    assert insert(cluster) == "3"


def test_a_move_that_was_killed_is_mended(cluster: Cluster, flash: Path) -> None:
    log, old = cluster.folder / "pg_wal", cluster.folder / "pg_wal.old"
    log.rename(old)  # the last step before the link takes its place
    (cluster.folder / "pg_wal.link").symlink_to(flash)
    done = move(cluster.folder, "--flash", flash)
    assert done.returncode == 0, done.stderr
    assert log.resolve().is_relative_to(flash)
    assert not old.exists()
    assert insert(cluster) == "2"


def test_what_cannot_be_moved(cluster: Cluster, flash: Path, tmp_path: Path) -> None:
    log = cluster.folder / "pg_wal"
    before = sorted(path.name for path in log.iterdir())
    none, maria = tmp_path / "none", tmp_path / "maria"
    none.mkdir()
    maria.mkdir()
    (maria / "ibdata1").touch()
    wrong: dict[str, tuple[Path, tuple[str | Path, ...]]] = {
        "no data folder": (none, ("--flash", flash)),
        "innodb_log_group_home_dir": (maria, ("--flash", flash)),
        "No such folder": (cluster.folder, ("--flash", tmp_path / "no")),
        "not one that Dyno moved": (cluster.folder, ("--back",)),
        "either": (cluster.folder, ()),
    }
    for named, (folder, how) in wrong.items():
        done = move(folder, *how)
        assert done.returncode == 2, done.stderr
        assert named in done.stderr
    cluster.start()
    done = move(cluster.folder, "--flash", flash)
    assert done.returncode == 3
    assert "in use" in done.stderr
    cluster.stop()
    assert sorted(path.name for path in log.iterdir()) >= before
    assert not any(flash.iterdir())


def test_a_log_that_the_user_moved_stays(cluster: Cluster, flash: Path) -> None:
    log, own = cluster.folder / "pg_wal", flash / "own"
    log.rename(own)
    log.symlink_to(own)
    for how in (("--back",), ("--flash", flash)):
        assert move(cluster.folder, *how).returncode == 2
    assert log.resolve() == own
