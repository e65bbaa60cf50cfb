"""The process that draws charts: its crash, hunger for memory or slowness costs the chart only."""

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
"""Seconds for one chart, on a machine that does much else."""
LARGEST = 64 << 20
"""Bytes of an SVG."""
MOST_FAILURES = 2
"""Of renderers in a row; no other is started then."""


class NoChart(Exception):  # noqa: N818  (the page goes on without it)
    """A chart could not be drawn; the message says why."""


class Renderer:
    """One process for all charts, started for the first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._process: subprocess.Popen[bytes] | None = None
        self._failures = 0
        self._why = ""

    def svg(self, spec: dict[str, Any]) -> str:
        """The chart of a Vega-Lite specification.

        Raises:
            NoChart: If there is none.
        """
        with self._lock:
            if self._owner != os.getpid():  # it was forked; the process is another's
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
        """The process, if it runs."""
        return None if self._process is None else self._process.pid

    def close(self) -> None:
        """Ends the process, if it is this one's."""
        if self._process is not None and self._owner == os.getpid():
            self._ended()

    def _asked(self, line: bytes) -> bytes:
        process = self._process or self._start()
        given, told = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        timer = threading.Timer(LONGEST_S, process.kill)
        timer.daemon = True
        timer.start()
        try:
            given.write(line)
            given.flush()
            answer = told.readline(LARGEST)
        finally:
            timer.cancel()
        if not answer.endswith(b"\n"):
            raise OSError("no answer")
        return answer

    def _start(self) -> subprocess.Popen[bytes]:
        # A session of its own: Ctrl-C is this process's affair. It ends when its input does.
        self._process = subprocess.Popen(
            [sys.executable, "-I", SCRIPT],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        helpers.add(self._process.pid)
        return self._process

    def _ended(self) -> str:
        """Ends the process; returns how it had ended, in words."""
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
