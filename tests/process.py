"""Dyno as a process of its own, as its users run it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from tests import forked

COMMAND = [sys.executable, "-m", "dyno"]
_SERVERS = ("postgres", "mariadbd", "mysqld")


def dyno(
    *args: str | Path,
    timeout: float = 600,
    cwd: Path | None = None,
    given: str = "",
    charts: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Runs Dyno to its end; it reads ``given``, and renders its charts if a test looks at them."""
    return forked.run([str(arg) for arg in args], timeout, cwd, given, charts=charts)


def document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """What ``--json`` printed."""
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def spoilt(found: dict[str, Any]) -> set[str]:
    """Codes of the reasons that make a run invalid: noise of this machine only disturbs it."""
    return {reason["code"] for reason in found["reasons"] if reason["kind"] == "invalid"}


def assert_valid(done: subprocess.CompletedProcess[str], *expected: str) -> dict[str, Any]:
    """The run is valid, or spoilt by nothing but what is ``expected``."""
    found = document(done)
    criteria = found.get("criteria", [])
    kept = all(item["passed"] is not False for item in criteria if item["binding"])
    assert done.returncode == (0 if found["valid"] and kept else 1), done.stderr
    assert spoilt(found) <= set(expected), done.stderr
    return found


def start(*args: str | Path) -> subprocess.Popen[str]:
    """Starts Dyno in a session of its own, as a terminal would; its charts are blank."""
    return subprocess.Popen(
        [*COMMAND, *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=forked.light(),
    )


def wait_until(condition: Callable[[], Any], what: str, timeout: float = 300) -> Any:
    """The first true value of ``condition``; fails after ``timeout`` seconds."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited {timeout} s in vain for {what}")


def events(out: Path) -> list[dict[str, Any]]:
    """The journal lines of all bundles under ``out``."""
    found: list[dict[str, Any]] = []
    for path in out.glob("*/events.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
            if line.endswith("\n"):
                found.append(json.loads(line))
    return found


def wait_for_phase(process: subprocess.Popen[str], out: Path, name: str) -> None:
    """Waits until a phase whose name begins with ``name`` has started."""

    def started() -> bool:
        if process.poll() is not None:
            raise AssertionError(f"dyno ended before {name}: {process.communicate()}")
        return any(
            event["event"] == "phase-started" and event["phase"].startswith(name)
            for event in events(out)
        )

    wait_until(started, f"phase {name}")


def _is_clickhouse(word: str) -> bool:
    return word.endswith("/targets/clickhouse/child.py")


def servers(out: Path) -> list[psutil.Process]:
    """Processes of database engines whose data lies under ``out``."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter(["name", "cmdline"]):
        words = process.info["cmdline"] or []
        engine = process.info["name"] in _SERVERS or any(map(_is_clickhouse, words))
        if engine and any(str(out) in word for word in words):
            found.append(process)
    return found


def no_server_left(out: Path) -> None:
    """Fails if a server under ``out`` outlives its Dyno for good."""
    wait_until(lambda: not servers(out), f"servers under {out} to end")


def end(process: subprocess.Popen[str], timeout: float = 300) -> tuple[int, str, str]:
    """Waits for the process; returns its exit code, stdout and stderr."""
    try:
        stdout, stderr = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
        raise AssertionError(f"dyno did not end: {stdout} {stderr}") from None
    return process.returncode, stdout, stderr
