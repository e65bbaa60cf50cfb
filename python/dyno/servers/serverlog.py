"""What the server wrote about itself, for errors that name the cause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

_LARGEST = 32 << 20
_TAIL = 64 << 10


class ServerLog:
    """The log file of one start of the server; what earlier starts wrote does not count."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._start = 0

    def open(self) -> IO[bytes]:
        """Opens it for the server to append to; one grown past 32 MB is begun anew.

        Raises:
            OSError: If it cannot be written.
        """
        if self.path.exists() and self.path.stat().st_size > _LARGEST:
            self.path.unlink()
        file = self.path.open("ab")
        self._start = file.tell()
        return file

    def lines(self) -> list[str]:
        """The last lines since :meth:`open` that are not empty."""
        try:
            with self.path.open("rb") as file:
                file.seek(0, 2)
                file.seek(max(self._start, file.tell() - _TAIL))
                text = file.read().decode(errors="replace")
        except OSError:
            return []
        return [line for line in text.splitlines() if line]

    def reason(self, explain: Callable[[Sequence[str]], str | None]) -> str:
        """What in it explains an end best: what ``explain`` finds, or else the last line."""
        lines = self.lines()
        return explain(lines) or (lines or [f"nothing was logged in {self.path}"])[-1]
