"""A fault in Dyno itself has an exit code of its own, and nothing recorded is lost."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from dyno.bundle.reader import list_bundles
from tests.process import document, dyno, end, start

BROKEN = """
import {module} as module

def broken(*words, **more):
    raise KeyError("mysql://u:very-secret-7@h/")

module.{name} = broken
"""
URL = "mysql://u:very-secret-7@127.0.0.1:1/"


def broken(folder: Path, monkeypatch: pytest.MonkeyPatch, module: str, name: str) -> None:
    """Every Dyno that is started from now on has a fault."""
    (folder / "sitecustomize.py").write_text(BROKEN.format(module=module, name=name))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *sys.path]))


def is_fault(code: int, errors: str) -> str:
    """The line that says so."""
    assert code == 4, errors
    assert "Traceback" in errors
    assert "very-secret-7" not in errors
    (line,) = [one for one in errors.splitlines() if one.startswith("dyno: Internal error: Key")]
    return errors[errors.index(line) :]


def test_a_fault_in_a_run_names_the_bundle(
    tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(tmp_path, monkeypatch, "dyno.stages.drive", "drive")
    words = ("run", "tpcc", "--target", "null:", "--users", "2", "--duration", "200ms")
    code, _, errors = end(start(*words, "--out", out))
    message = is_fault(code, errors)
    (bundle,) = list_bundles(out)
    assert str(bundle.path) in "".join(message.split("\n"))
    assert bundle.run.status == "failed"
    report = dyno("report", bundle.path, "--json")
    assert document(report)["valid"] is False


def test_a_fault_in_another_verb(
    tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(tmp_path, monkeypatch, "dyno.host", "collect")
    code, _, errors = end(start("doctor", URL, "--out", out))
    is_fault(code, errors)
