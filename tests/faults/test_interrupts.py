"""Ctrl-C in every phase of quickstart, and SIGKILL: a readable bundle, no server left."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from dyno.bundle.reader import list_bundles
from tests.process import dyno, end, no_server_left, start, wait_for_phase
from tests.quick import SHORT, SHORT_STORAGE, resize

PHASES = [
    "machine",
    "io",
    "provision-postgresql",
    "load-tpch-postgresql",
    "index-tpch-postgresql",
    "power-tpch-postgresql",
    "load-tpch-duckdb",
    "power-tpch-duckdb",
    "oltp-tpcc-postgresql-users-4",
    "check-tpcc-postgresql-run",
]
LATE = {
    "load-tpch-postgresql",
    "index-tpch-postgresql",
    "power-tpch-postgresql",
    "load-tpch-duckdb",
    "power-tpch-duckdb",
    *PHASES[-2:],
}
ENDLESS = {**SHORT_STORAGE, "duration_s": 3600.0}
"""However late a signal comes on a busy machine, the work goes on."""

ARGS = ("quickstart", "--quick", "--scale", "0.02", "--json", "--out")


# The last phase is short, and what follows it is not to be interrupted: it is made to last.
LONG_CHECK = """
from dyno.workloads.tpcc import checks

real = checks.check_conditions


def slow(target, session, after):
    if after == "run":
        session.execute("SELECT pg_sleep(3600)")
    return real(target, session, after)


checks.check_conditions = slow
"""


@pytest.mark.parametrize(
    "phase",
    [pytest.param(name, marks=pytest.mark.long if name in LATE else ()) for name in PHASES],
)
def test_ctrl_c_leaves_a_readable_bundle_and_no_server(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    if phase == PHASES[-1]:
        resize(monkeypatch, tmp_path, SHORT, LONG_CHECK)
    elif PHASES.index(phase) > PHASES.index("io"):
        resize(monkeypatch, tmp_path, ENDLESS, "quickstart.USERS = (4,)")
    process = start(*ARGS, out)
    wait_for_phase(process, out, phase)
    os.kill(process.pid, signal.SIGINT)
    code, _, errors = end(process)
    assert code == 130, errors
    assert "Interrupted" in errors
    assert "Traceback" not in errors
    no_server_left(out)
    (bundle,) = list_bundles(out)
    assert bundle.run.status == "interrupted"
    assert bundle.run.validity.valid is False
    assert "incomplete" in {reason.code for reason in bundle.run.validity.reasons}
    assert all(item.end_ns is not None for item in bundle.run.phases)
    assert (bundle.path / "sheet.html").stat().st_size > 1000
    assert not list(out.glob(".dyno-io-*"))


def test_a_terminal_that_closes_is_like_ctrl_c(out: Path) -> None:
    process = start(*ARGS, out)
    wait_for_phase(process, out, "io")
    os.kill(process.pid, signal.SIGTERM)
    assert end(process)[0] == 130


def test_sigkill_leaves_a_readable_bundle_no_server_and_no_lock(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resize(monkeypatch, tmp_path, ENDLESS)
    process = start(*ARGS, out)
    wait_for_phase(process, out, "power-tpch-postgresql")
    os.kill(process.pid, signal.SIGKILL)
    assert end(process)[0] == -signal.SIGKILL
    no_server_left(out)
    (bundle,) = list_bundles(out)
    assert bundle.run.status == "running"
    assert bundle.table("io").num_rows > 0
    assert "cut off" in dyno("runs", "list", "--out", out).stdout
    report = dyno("report", "last", "--json", "--out", out)
    assert report.returncode == 1, report.stderr
    assert "incomplete" in report.stdout or "did not end" in report.stdout
    again = dyno("io", out, "--size", "64M", "--step", "100ms", "--json", "--out", out)
    assert again.returncode in {0, 1}, again.stderr


# Ctrl-C at a moment of the imports, which no test could hit from outside.
_AT_IMPORT = """
import signal, sys

class Strike:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Strike())
"""


def test_ctrl_c_while_dyno_starts(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(_AT_IMPORT)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    code, _, errors = end(start("runs", "list", "--out", out))
    assert (code, errors) == (130, "dyno: Interrupted.\n")
