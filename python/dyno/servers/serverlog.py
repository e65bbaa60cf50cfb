"""The server's own log, for errors that name the cause."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from dyno.errors import UsageError
from dyno.safety.safefiles import append, open_regular

_LARGEST = 32 << 20
_TAIL = 64 << 10


class ServerLog:
    """The log file of one start of the server; it ignores output of earlier starts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._start = 0

    def open(self) -> io.FileIO:
        """Opens it for the server to append to; a log above 32 MB is truncated.

        Raises:
            UsageError: If the path is a link.
            OSError: If it cannot be written.
        """
        file = append(self.path)
        if os.fstat(file.fileno()).st_size > _LARGEST:
            file.close()
            self.path.unlink()
            file = append(self.path)
        self._start = file.seek(0, os.SEEK_END)
        return file

    def lines(self) -> list[str]:
        """The last non-empty lines since :meth:`open`."""
        try:
            with open_regular(self.path) as file:
                file.seek(0, 2)
                file.seek(max(self._start, file.tell() - _TAIL))
                text = file.read().decode(errors="replace")
        except (OSError, UsageError):
            return []
        return [line for line in text.splitlines() if line]

    def reason(self, explain: Callable[[Sequence[str]], str | None]) -> str:
        """The most likely reason of an exit: what ``explain`` finds, or else the last line."""
        lines = self.lines()
        return explain(lines) or (lines or [f"nothing was logged in {self.path}"])[-1]
