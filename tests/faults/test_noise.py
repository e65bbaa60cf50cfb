"""Other work beside a real run: the verdict, and who is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.process import end, start

# A process that keeps a CPU busy until its input ends, and for two minutes at most.
BURNER = """
import os, sys, threading, time
open("/proc/self/comm", "w").write("burner-x")
print("ready", flush=True)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
end = time.monotonic() + 120
while time.monotonic() < end:
    pass
"""


@pytest.fixture
def burners() -> Generator[None]:
    """Twice as many as there are CPUs."""
    count = 2 * min(len(os.sched_getaffinity(0)), 8)
    command = [sys.executable, "-c", BURNER]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    started = [subprocess.Popen(command, text=True, **pipes) for _ in range(count)]
    try:
        for one in started:
            assert one.stdout is not None
            assert one.stdout.readline() == "ready\n"
        yield
    finally:
        for one in started:
            one.communicate()


@pytest.mark.long
@pytest.mark.usefixtures("burners")
def test_cpu_burners_disturb_a_short_run_and_are_named(out: Path) -> None:
    load = ("load", "tpch", "--target", "embedded:duckdb", "--scale", "0.1")
    code, output, errors = end(start(*load, "--json", "--out", out))
    document = json.loads(output)
    assert code == 1, errors
    assert (document["valid"], document["verdict"]) == (False, "disturbed")
    reasons = [one for one in document["reasons"] if one["code"] == "background-load"]
    assert [one["kind"] for one in reasons] == ["disturbed"]
    assert "burner-x " in reasons[0]["message"]
