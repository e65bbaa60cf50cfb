"""The chart renderer process: a crash, high memory use or a timeout only loses the chart."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from typing import IO, Any, cast

from dyno.report.kit.charts import child
from dyno.runtime import helpers

SCRIPT = child.__file__
LONGEST_S = 120.0
"""Timeout in seconds for one chart, also on a busy machine."""
LARGEST = 64 << 20
"""Maximum bytes of an SVG."""
MOST_FAILURES = 2
"""Consecutive failures after which no renderer is started."""


class NoChart(Exception):  # noqa: N818  (the page goes on without it)
    """A chart could not be drawn; the message is the reason."""


class Renderer:
    """One process for all charts, started for the first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._process: subprocess.Popen[bytes] | None = None
        self._failures = 0
        self._why = ""

    def svg(self, spec: dict[str, Any]) -> str:
        """Renders a Vega-Lite specification.

        Raises:
            NoChart: If rendering fails.
        """
        with self._lock:
            if self._owner != os.getpid():  # after a fork the renderer belongs to another process
                self._owner, self._process = os.getpid(), None
            if self._failures >= MOST_FAILURES:
                raise NoChart(self._why)
            try:
                answer = json.loads(self._asked(json.dumps(spec).encode() + b"\n"))
            except (OSError, ValueError) as error:
                self._failures += 1
                self._why = f"the chart renderer {self._ended()}"
                raise NoChart(self._why) from error
            self._failures = 0
            if "svg" not in answer:
                raise NoChart(f"the chart renderer refused it: {answer.get('error')}")
            found: str = answer["svg"]
            return found

    @property
    def pid(self) -> int | None:
        """The process id, if it runs."""
        return None if self._process is None else self._process.pid

    def close(self) -> None:
        """Ends the process, if this process started it."""
        if self._process is not None and self._owner == os.getpid():
            self._ended()

    def _asked(self, line: bytes) -> bytes:
        process = self._process or self._start()
        given, output = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        timer = threading.Timer(LONGEST_S, process.kill)
        timer.daemon = True
        timer.start()
        try:
            given.write(line)
            given.flush()
            answer = output.readline(LARGEST)
        finally:
            timer.cancel()
        if not answer.endswith(b"\n"):
            raise OSError("no answer")
        return answer

    def _start(self) -> subprocess.Popen[bytes]:
        # Its own session: Ctrl-C must not reach it. It ends when its input closes.
        self._process = subprocess.Popen(
            [sys.executable, "-I", SCRIPT],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        helpers.add(self._process.pid)
        return self._process

    def _ended(self) -> str:
        """Ends the process; returns its exit status as text."""
        process, self._process = self._process, None
        if process is None:
            return "could not be started"
        with contextlib.suppress(OSError, ValueError, subprocess.TimeoutExpired):
            process.communicate(timeout=5)
        if process.poll() is None:
            process.kill()
        code = process.wait()
        helpers.remove(process.pid)
        if code >= 0:
            return f"ended without an answer (exit code {code})"
        return f"was killed by {signal.Signals(-code).name}, as when memory runs out"


RENDERER = Renderer()
atexit.register(RENDERER.close)
