"""Ctrl-C in the verbs beside quickstart: exit code 130, nothing half written, no server left."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from dyno.bundle.reader import list_bundles
from tests.process import dyno, end, no_server_left, start, wait_for_phase, wait_until

# Ctrl-C as a file that is ready is about to get its name.
_AT_REPLACE = """
import os, signal

real = os.replace

def struck(*words, **more):
    os.replace = real
    signal.raise_signal(signal.SIGINT)
    real(*words, **more)

os.replace = struck
"""

# Ctrl-C as a verb that writes nothing is about to answer.
_AT_ANSWER = """
import click, signal

real = click.echo

def struck(*words, **more):
    click.echo = real
    signal.raise_signal(signal.SIGINT)

click.echo = struck
"""

STUDY = """
pairs = 2
headline = ["tps"]
[base]
workload = "tpcc"
target = "null:?mean_us=500"
[base.run]
users = 2
warmup = "100ms"
duration = "300ms"
[[variants]]
name = "slow"
target = "null:?mean_us=5000"
"""
DRIVEN = ("run", "tpcc", "--target", "null:", "--users", "2", "--warmup", "0s")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs and a study."""
    folder = tmp_path_factory.mktemp("verbs")
    for _ in range(2):
        done = dyno(*DRIVEN, "--duration", "200ms", "--out", folder / "out")
        assert done.returncode in {0, 1}, done.stderr
    study = folder / "mine.toml"
    study.write_text(STUDY)
    assert dyno("study", study, "--out", folder / "out").returncode in {0, 1}
    return folder


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.long
@pytest.mark.parametrize(
    ("moment", "words"),
    [
        (_AT_REPLACE, ("report", "last", "--out", "out")),
        (_AT_REPLACE, ("runs", "export", "last", "--to", "last.tar.gz", "--out", "out")),
        (_AT_REPLACE, ("study", "show", "out/studies/mine")),
        (_AT_ANSWER, ("compare", "last", "FIRST", "--out", "out")),
        (_AT_ANSWER, ("runs", "show", "last", "--out", "out")),
        (_AT_ANSWER, ("runs", "list", "--out", "out")),
        (_AT_ANSWER, ("doctor", "--out", "out")),
        (_AT_ANSWER, ("clean", "--runs", "--out", "out")),
    ],
    ids=lambda given: "-".join(given[:2]) if isinstance(given, tuple) else "",
)
def test_what_was_there_is_as_before(
    filled: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    moment: str,
    words: tuple[str, ...],
) -> None:
    (tmp_path / "sitecustomize.py").write_text(moment)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    monkeypatch.chdir(filled)
    before = files(filled)
    first = list_bundles(filled / "out")[-1].path
    code, _, errors = end(start(*(str(first) if word == "FIRST" else word for word in words)))
    assert code == 130, errors
    assert errors.rstrip().splitlines()[-1].startswith("dyno: Interrupted"), errors
    assert "Traceback" not in errors
    assert files(filled) == before


@pytest.mark.parametrize("file_format", ["tbl", "parquet", "arrow"])
def test_generated_files_are_whole_or_not_there(tmp_path: Path, file_format: str) -> None:
    made = tmp_path / "made"
    # More than the test waits for: it is interrupted in its first and largest file.
    process = start("generate", "tpch", "--scale", "30", "--format", file_format, "--to", made)
    partial = made / f".lineitem.{file_format}.partial"
    wait_until(lambda: partial.exists() and partial.stat().st_size > 1 << 20, "a part of the file")
    process.send_signal(signal.SIGINT)
    code, _, errors = end(process)
    assert code == 130, errors
    assert "Traceback" not in errors
    assert not list(made.iterdir())


@pytest.mark.parametrize(
    ("phase", "words"),
    [
        ("search-tpcc", (*DRIVEN, "--find-max", "users", "--duration", "2s")),
        ("io", ("io", "here", "--size", "64M", "--step", "60s")),
    ],
    ids=["search", "io"],
)
def test_what_was_measured_is_readable(
    tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch, phase: str, words: tuple[str, ...]
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path)
    process = start(*words, "--out", out)
    wait_for_phase(process, out, phase)
    wait_until(
        lambda: list(out.glob("*/ops/*")) or any(_filled(out, "io_intervals.jsonl")), "a result"
    )
    process.send_signal(signal.SIGINT)
    code, _, errors = end(process)
    assert code == 130, errors
    assert "Traceback" not in errors
    (bundle,) = list_bundles(out)
    assert bundle.run.status == "interrupted"
    assert "incomplete" in {reason.code for reason in bundle.run.validity.reasons}
    assert (bundle.path / "sheet.html").stat().st_size > 1000
    assert not list((tmp_path / "here").iterdir())
    no_server_left(out)


def _filled(out: Path, name: str) -> list[Path]:
    return [path for path in out.glob(f"*/{name}") if path.stat().st_size]
