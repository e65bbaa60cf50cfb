"""The option ``--live``: a page of the run while it goes on, served by a process of its own."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dyno.runtime import helpers

if TYPE_CHECKING:
    from dyno.cli._console import Console

option = click.option(
    "--live", is_flag=True, help="Serve a live page of the run on this machine, and print its URL."
)
ATTACHED = "--attached"
"""Hidden option of ``dyno watch``: it ends soon after its standard input does."""


_ENDS_WITHIN_S = 30.0


class LivePage:
    """``dyno watch`` in a child process. It ends with this process, also if that is killed."""

    def __init__(self, folder: Path, console: Console) -> None:
        """Starts it on a bundle, or on the newest bundle in a folder of runs."""
        self._console = console
        command = [sys.executable, "-P", "-m", "dyno", "watch", str(folder), ATTACHED]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, start_new_session=True,
        )  # fmt: skip
        helpers.add(self._process.pid)
        threading.Thread(target=self._print, daemon=True, name="dyno-live").start()

    def end(self) -> None:
        """Lets it end once its viewers have seen the end of the run."""
        helpers.remove(self._process.pid)
        if self._process.stdin is not None:
            self._process.stdin.close()

    def wait(self) -> None:
        """Waits for its end, which viewers delay by some seconds at most."""
        try:
            self._process.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _print(self) -> None:
        for line in self._process.stdout or ():
            self._console.warn(line.rstrip())
