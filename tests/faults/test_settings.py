"""Settings are restored however a run ends: by Ctrl-C or by SIGKILL."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from dyno.bundle.reader import list_bundles
from tests.process import dyno, end, no_server_left, start, wait_for_phase
from tests.targets.test_tuning import checksums

TARGET = ("--target", "embedded:postgresql")
ASKED = ("--set", "checksums=off", "--set", "work_memory=1MB", "--set", "temp_limit=1GB")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Loaded data, and the settings that they were loaded with."""
    out = tmp_path_factory.mktemp("settings") / "out"
    done = dyno("load", "tpch", *TARGET, "--scale", "0.01", "--out", out)
    assert done.returncode in {0, 1}, done.stderr  # 1: the machine was busy
    return out, list_bundles(out)[0].run.targets["postgresql"].settings


def usual(out: Path) -> dict[str, str]:
    """What a run without settings has."""
    done = dyno("check", "tpch", *TARGET, "--out", out)
    assert done.returncode in {0, 1}, done.stderr  # 1: the machine was busy
    return list_bundles(out)[0].run.targets["postgresql"].settings


@pytest.mark.long
@pytest.mark.parametrize("how", ["interrupt", "kill"])
def test_they_are_as_before(loaded: tuple[Path, dict[str, str]], how: str) -> None:
    out, before = loaded
    assert (before["data_checksums"], before["work_mem"]) != ("off", "1MB")
    for bundle in list_bundles(out):  # phases of the run to come only
        shutil.rmtree(bundle.path)
    journal = out / "engines" / "postgresql" / "settings.journal"
    # Restarting before each of 22 queries leaves time to strike.
    process = start("run", "tpch", *TARGET, *ASKED, "--cold-each-query", "--out", out)
    wait_for_phase(process, out, "power-tpch")
    assert journal.exists()
    assert checksums(out) == "off"
    number = signal.SIGINT if how == "interrupt" else signal.SIGKILL
    os.kill(process.pid, number)
    assert end(process)[0] == (130 if how == "interrupt" else -signal.SIGKILL)
    no_server_left(out)
    (applied,) = [
        item
        for item in list_bundles(out)[0].run.targets["postgresql"].tuned
        if item.word == "checksums"
    ]
    if how == "kill":
        assert applied.restored is None
        assert journal.exists()  # which the next start goes by
        assert checksums(out) == "off"
    else:
        assert applied.restored is True
        assert not journal.exists()
        assert checksums(out) == "on"
    after = usual(out)
    assert not journal.exists()
    assert checksums(out) == "on"
    for name in ("data_checksums", "work_mem", "temp_file_limit"):
        assert after.get(name) == before.get(name)
