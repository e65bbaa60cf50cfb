"""Runs Dyno in a child process that ends with this one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dyno.errors import Interrupted
from dyno.plans import Plan, document
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
    # A separate session: Ctrl-C reaches only this process, which passes it on once.
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip
    try:
        output, error = process.communicate(json.dumps(document(plan)))
    except KeyboardInterrupt:
        _stop(process)
        raise Interrupted("Interrupted.") from None
    lines = [line for line in error.splitlines() if line.strip()]
    last = next((line for line in reversed(lines) if line.startswith("dyno: ")), "")
    try:
        printed = json.loads(output) if output.strip() else {}
    except ValueError:
        printed = {}
    said = last.removeprefix("dyno: ") or (
        lines[-1] if lines else f"exit code {process.returncode}"
    )
    return Ended(process.returncode, printed if isinstance(printed, dict) else {}, said)


def _stop(process: subprocess.Popen[str]) -> None:
    """Ends a run, and forwards further signals.

    Uses SIGTERM: a study in the background may ignore SIGINT, and so do its runs.
    """
    process.send_signal(signal.SIGTERM)
    asked = interrupts.count()
    while True:
        try:
            process.communicate(timeout=_POLL_S)
        except subprocess.TimeoutExpired:
            if interrupts.count() > asked:
                asked = interrupts.count()
                process.send_signal(signal.SIGTERM)
        else:
            return
