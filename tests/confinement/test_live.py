"""Limits as the kernel keeps them: who is in them, who is killed, and what is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dyno.confinement import places
from dyno.servers.daemon import Daemon
from dyno.servers.identity import Identity
from dyno.servers.product import Product
from dyno.servers.serverlog import ServerLog
from tests.confinement.conftest import Confine, require
from tests.process import wait_until

MIB = 1 << 20

HUNGRY = """
import pathlib, time
pathlib.Path("ready").touch()
while not pathlib.Path("eat").exists():
    time.sleep(0.01)
held = bytearray(200 << 20)
"""
PRODUCT = Product(
    name="Hungry",
    stops=((signal.SIGTERM, 60.0), (signal.SIGKILL, 15.0)),
    at_death=signal.SIGKILL,
    explain=lambda _: None,
    reports_full_disk=lambda _: False,
)

WITHIN = """
import sys, pathlib
from dyno.confinement.run import confine
found = confine(sys.argv[1:], "process", [])
with found, found.within():
    print("ready", flush=True)
    sys.stdin.readline()
    held = bytearray(400 << 20)
"""


def output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_a_process_is_in_its_limits_from_the_start(confined: Confine) -> None:
    usable = sorted(os.sched_getaffinity(0))
    with confined(f"cpus={usable[-1]}") as alone:  # needs no group and no privilege
        assert alone.effects().version is None
        code = "import os; print(sorted(os.sched_getaffinity(0)))"
        assert output(*alone.launch, sys.executable, "-c", code) == str(usable[-1:])
    require("cpu", "memory")
    with confined("cpu=0.1", "memory=64MB") as both:
        launch = both.launch
        work = "import time\nwhile time.process_time() < 0.05: pass\n"
        code = f"{work}print(open('/proc/self/cgroup').read())"
        text = output(*launch, sys.executable, "-c", code)
        found = both.effects()
        names = {line.rpartition("/")[2] for line in text.splitlines() if "dyno-limit-" in line}
        assert len(names) == (2 if found.version == 1 else 1)
        assert found.throttled_periods and found.throttled_share
        assert 0 < (found.memory_peak_bytes or MIB) <= 64 * MIB
        assert found.killed == 0
        assert both.killed() is None
    with pytest.raises(subprocess.CalledProcessError):
        output(*launch, sys.executable, "-c", "")  # the groups are gone


def test_a_server_that_outgrows_its_memory_is_reported(confined: Confine, tmp_path: Path) -> None:
    require("memory")
    with confined("memory=64MB") as limits:
        log = ServerLog(tmp_path / "server.log")
        daemon = Daemon(PRODUCT, log, limits.launch, limits.killed)
        lock = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
        try:
            command = [sys.executable, "-c", HUNGRY]
            daemon.launch(Identity("self"), command, tmp_path, lock)
            wait_until((tmp_path / "ready").exists, "the server")
            assert limits.killed() is None
            (tmp_path / "eat").touch()
            error = None
            while error is None:
                error = daemon.exit_reason(lambda: False)
            assert str(error) == "Hungry was killed: memory limit of 64MB (--limit memory)."
            assert error.kind == "out_of_memory"
        finally:
            daemon.end()
            os.close(lock)
        assert limits.effects().killed == 1


def within(*texts: str) -> subprocess.Popen[str]:
    """A Dyno within limits, which takes 400 MB on request."""
    process = subprocess.Popen(
        [sys.executable, "-c", WITHIN, *texts],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def groups(pid: int) -> list[Path]:
    return [folder for parent in places.parents() for folder in parent.glob(f"dyno-limit-{pid}-*")]


def test_dyno_that_is_killed_in_its_own_limits_says_so_and_leaves_nothing() -> None:
    require("memory")
    process = within("memory=256MB")
    assert groups(process.pid)
    _, error = process.communicate("go\n")
    assert process.returncode == -signal.SIGKILL
    words = "memory limit of 256MB (--limit memory)"
    assert error == f"dyno: Dyno was killed, and the engine in it: {words}.\n"
    assert groups(process.pid)
    places.sweep()  # as the next run does
    assert not groups(process.pid)


def test_dyno_leaves_its_limits_when_the_engine_is_closed(confined: Confine) -> None:
    require("cpu", "memory")

    def memberships() -> str:
        return Path("/proc/self/cgroup").read_text()

    before, mask = memberships(), os.sched_getaffinity(0)
    with confined("cpu=1", "memory=512MB", f"cpus={min(mask)}", where="process") as limits:
        assert limits.launch == ()
        with limits.within():
            assert "dyno-limit-" in memberships()
            found: list[set[int]] = []
            thread = threading.Thread(target=lambda: found.append(os.sched_getaffinity(0)))
            thread.start()
            thread.join()
            assert found == [{min(mask)}]
        assert memberships() == before
        assert os.sched_getaffinity(0) == mask
        assert limits.effects().where == "process"
    assert not groups(os.getpid())
