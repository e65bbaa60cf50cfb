"""Runs Dyno in a child process that ends with this one."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from dyno.errors import Interrupted
from dyno.plans.documents import document
from dyno.plans.fields import Plan
from dyno.runtime import interrupts
from dyno.servers import become

_POLL_S = 0.2
USABLE = (0, 1)
"""Exit codes of completed work, valid or not."""


@dataclass(frozen=True)
class Ended:
    """The result of the process.

    Attributes:
        document: Its JSON document; empty if none.
        words: Its last line of output.
    """

    code: int
    document: dict[str, Any] = field(default_factory=dict[str, Any])
    words: str = ""

    @property
    def usable(self) -> bool:
        """Whether it completed: a crash may have the same code, but prints no document."""
        return self.code in USABLE and bool(self.document)


def dyno(plan: Plan) -> Ended:
    """Runs a plan in a child process.

    Raises:
        Interrupted: If the user stops it, after the run has ended.
    """
    command = [
        *(sys.executable, "-I", "-S", become.__file__),
        *(str(os.getpid()), str(int(signal.SIGTERM)), "dyno", str(Path.cwd())),
        # -P: files in the user's folder must not shadow modules of Python's library.
        *(sys.executable, "-P", "-m", "dyno.cli._planned"),
    ]
    # Files in memory, not pipes: an interrupt while `communicate` prepares them is a fault.
    with _memory("output") as output, _memory("errors") as errors:
        # A separate session: Ctrl-C reaches only this process, which passes it on once.
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=output, stderr=errors, text=True,
            start_new_session=True,
        )  # fmt: skip
        try:
            with contextlib.suppress(BrokenPipeError), cast("IO[str]", process.stdin) as asked:
                asked.write(json.dumps(document(plan)))
            process.wait()
        except KeyboardInterrupt:
            _stop(process)
            raise Interrupted("Interrupted.") from None
        output.seek(0)
        errors.seek(0)
        return _ended(process.returncode, output.read(), errors.read())


def _memory(name: str) -> IO[str]:
    return os.fdopen(os.memfd_create(name), "w+")


def _ended(code: int, output: str, errors: str) -> Ended:
    lines = [line for line in errors.splitlines() if line.strip()]
    last = next((line for line in reversed(lines) if line.startswith("dyno: ")), "")
    try:
        printed = json.loads(output) if output.strip() else {}
    except ValueError:
        printed = {}
    said = last.removeprefix("dyno: ") or (lines[-1] if lines else f"exit code {code}")
    return Ended(code, printed if isinstance(printed, dict) else {}, said)


def _stop(process: subprocess.Popen[str]) -> None:
    """Ends a run, and forwards further signals.

    Uses SIGTERM: a study in the background may ignore SIGINT, and so do its runs.
    """
    process.send_signal(signal.SIGTERM)
    asked = interrupts.count()
    while True:
        try:
            process.wait(_POLL_S)
        except subprocess.TimeoutExpired:
            if interrupts.count() > asked:
                asked = interrupts.count()
                process.send_signal(signal.SIGTERM)
        else:
            return
