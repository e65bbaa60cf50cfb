"""``dyno watch TARGET``: recordings of this machine and of a server that Dyno does not load."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from dyno.bundle.model import those
from dyno.bundle.phases.watch import WatchDetail
from dyno.bundle.reader import Bundle, list_bundles
from tests.process import document, dyno, start, wait_for_phase, wait_until


def bundle(out: Path) -> Bundle:
    (found,) = list_bundles(out)
    return found


def test_this_machine_is_recorded_without_a_database(tmp_path: Path) -> None:
    done = dyno("watch", "host:", "--for", "4s", "--out", tmp_path, "--json")
    found = document(done)
    assert done.returncode == 0, done.stderr
    assert found["valid"] and found["watch"]["target"] is None
    assert found["watch"]["seconds"] == pytest.approx(4, abs=2)
    assert found["watch"]["busiest_hours"]["cpu"]["mean"] > 0
    assert found["watch"]["gaps"] is None  # there is no database to respond
    assert "in the busiest hour" in found["conclusion"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_recording_as_planned(tmp_path: Path, number: signal.Signals) -> None:
    with start("watch", "host:", "--interval", "1s", "--out", tmp_path) as process:
        wait_for_phase(process, tmp_path, "watch")
        spool = bundle(tmp_path).path / "samples.jsonl"
        wait_until(lambda: spool.read_text().count('"busy"') >= 4, "four readings")
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    found = bundle(tmp_path)
    assert found.run.status == "done"
    (phase,) = those(found.run.phases, WatchDetail)
    assert phase.detail.stopped and phase.status == "done"


def test_a_recording_that_was_killed_is_readable(tmp_path: Path) -> None:
    with start("watch", "host:", "--interval", "1s", "--out", tmp_path) as process:
        wait_for_phase(process, tmp_path, "watch")
        spool = bundle(tmp_path).path / "samples.jsonl"
        wait_until(lambda: spool.read_text().count('"busy"') >= 4, "four readings")
        process.kill()
        process.communicate(timeout=60)
    assert bundle(tmp_path).table("samples").num_rows > 20
    assert dyno("report", bundle(tmp_path).path).returncode == 1  # it did not end


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["embedded:postgresql"], "is not a running server"),
        (["duckdb:///tmp/x.duckdb"], "is not a running server"),
        (["host:", "--interval", "0.1s"], "in the range 1 s to 10 min"),
        (["host:", "--interval", "20s", "--for", "5s"], "must not exceed --for"),
        (["host:", "--for", "soon"], "--for"),
    ],
)
def test_what_cannot_be_recorded_is_refused(tmp_path: Path, words: list[str], reason: str) -> None:
    done = dyno("watch", *words, "--out", tmp_path)
    assert done.returncode == 2
    assert reason in done.stderr
    assert not list_bundles(tmp_path)
