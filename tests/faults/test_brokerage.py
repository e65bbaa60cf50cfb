"""Brokerage under kill -9, of Dyno and of the server, in each phase: it resumes and stays whole."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from dyno.bundle.reader import Bundle
from dyno.workloads.brokerage.conditions import CONDITIONS
from tests.faults.test_resume import kill_dyno, kill_server, some_are_in
from tests.mariadb import require_mariadb
from tests.process import dyno, end, events, no_server_left, spoilt, start, wait_until

Kill = Callable[[int, Path], None]
LOAD = ("--scale", "0.3", "--days", "2", "--streams", "2")
RUN = ("--users", "6", "--warmup", "500ms", "--duration", "120s")


@pytest.fixture(params=["postgresql", "mysql"])
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "mysql":
        require_mariadb()
    return str(request.param)


def words(engine: str, out: Path, verb: str, *more: str) -> tuple[str | Path, ...]:
    return (verb, "brokerage", "--target", f"embedded:{engine}", *more, "--json", "--out", out)


def begun(out: Path, phase: str) -> int:
    """How many phases of this name have started in all bundles."""
    return sum(
        event["event"] == "phase-started" and event["phase"].startswith(phase)
        for event in events(out)
    )


def killed(
    out: Path, args: tuple[str | Path, ...], kill: Kill, ready: Callable[[], bool]
) -> subprocess.Popen[str]:
    """Starts Dyno, and kills it or its server once it is ready."""
    process = start(*args)
    wait_until(lambda: process.poll() is not None or ready(), "the moment of the kill")
    assert process.poll() is None, process.communicate()
    kill(process.pid, out)
    assert end(process)[0] == (3 if kill is kill_server else -signal.SIGKILL)
    no_server_left(out)
    return process


def sound(done: subprocess.CompletedProcess[str]) -> Bundle:
    """The bundle of a load or check that found nothing wrong with the data."""
    assert done.returncode in {0, 1}, done.stderr
    found = json.loads(done.stdout)
    assert not spoilt(found), found["reasons"]
    bundle = Bundle.open(Path(found["bundle"]))
    checks = bundle.checks()
    assert sum(check.name.startswith("condition ") for check in checks) == len(CONDITIONS)
    assert [check.message for check in checks if check.passed is False] == []
    return bundle


@pytest.mark.long
def test_kills_in_each_phase(out: Path, engine: str) -> None:
    resume = words(engine, out, "load", *LOAD, "--resume")
    killed(
        out,
        words(engine, out, "load", *LOAD),
        kill_dyno,
        lambda: some_are_in(engine, out, "brokerage"),
    )
    kills: tuple[tuple[str, Kill], ...] = (
        ("load-brokerage", kill_server),
        ("index-brokerage", kill_dyno),
        ("index-brokerage", kill_server),
        ("check-brokerage", kill_dyno),
    )
    for phase, kill in kills:
        before = begun(out, phase)
        killed(out, resume, kill, lambda phase=phase, before=before: begun(out, phase) > before)
    last = dyno(*resume)
    if last.returncode == 2:  # the check had ended, and with it the load
        assert "nothing to resume" in last.stderr
        last = dyno(*words(engine, out, "check"))
    sound(last)

    for mode in ("client", "procedure"):
        for kill in (kill_server, kill_dyno):
            earlier = spools(out)
            run = words(engine, out, "run", *RUN, "--mode", mode)
            killed(out, run, kill, lambda earlier=earlier: works(spools(out) - earlier))
            sound(dyno(*words(engine, out, "check")))


def spools(out: Path) -> set[Path]:
    return set(out.glob("*/ops/users-6.jsonl"))


def works(found: set[Path]) -> bool:
    """Whether results of trades are recorded in a spool."""
    return any(b"trade_result" in spool.read_bytes() for spool in found)
