"""As a background job: a shell has it ignore SIGINT, and what it starts inherits that."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dyno.bundle.reader import list_bundles
from tests.process import COMMAND, end, wait_for_phase

IN_BACKGROUND = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh"]
CTRL_C = "tests/cli/test_signals.py::test_ctrl_c_is_answered_at_once"


@pytest.mark.long
def test_the_suite_gives_what_it_starts_the_default_of_ctrl_c() -> None:
    words = [*IN_BACKGROUND, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", CTRL_C]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout


STUDY = """
pairs = 2
headline = ["tps"]

[base]
workload = "tpcc"
target = "null:?mean_us=500"

[base.run]
users = 2
warmup = "1s"
duration = "10m"

[[variants]]
name = "slow"
target = "null:?mean_us=5000"
"""


@pytest.mark.long
def test_a_study_in_the_background_ends_its_run_when_it_is_ended(out: Path) -> None:
    study = out / "mine.toml"
    study.write_text(STUDY)
    words = [*IN_BACKGROUND, *COMMAND, "study", str(study), "--out", str(out)]
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    data = out / "studies" / "mine" / "data-1"
    wait_for_phase(process, data, "oltp-tpcc-null")
    os.kill(process.pid, signal.SIGTERM)
    code, _, errors = end(process)
    assert code == 130, errors
    assert [bundle.run.status for bundle in list_bundles(data)] == ["interrupted"]
