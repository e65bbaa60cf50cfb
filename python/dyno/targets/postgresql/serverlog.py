"""What the server wrote about itself, for errors that name the cause."""

from __future__ import annotations

import re
from pathlib import Path
from typing import IO

_LARGEST = 32 << 20
_TAIL = 64 << 10
_KILLED = re.compile(r"was terminated by signal (\d+)")
_PANIC = re.compile(r"\bPANIC:\s+(.*)")
_SEVERE = re.compile(r"\b(?:FATAL|ERROR):\s+(.*)")


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
        """The last lines since :meth:`open`, without their time stamps."""
        try:
            with self.path.open("rb") as file:
                file.seek(0, 2)
                file.seek(max(self._start, file.tell() - _TAIL))
                text = file.read().decode(errors="replace")
        except OSError:
            return []
        return [re.sub(r"^\S+ \S+ UTC \[\d+\] ", "", line) for line in text.splitlines() if line]

    def reason(self) -> str:
        """What in it explains an end best: a panic, a killed process, or the last severe line."""
        lines = self.lines()
        for pattern, told in (
            (_PANIC, "{}"),
            (_KILLED, "one of its processes was killed (signal {})"),
            (_SEVERE, "{}"),
        ):
            found = [match[1] for line in lines if (match := pattern.search(line))]
            found = [text for text in found if "is starting up" not in text]  # to Dyno itself
            if found:
                return told.format(found[-1])
        return lines[-1] if lines else f"nothing was logged in {self.path}"


def tells_full_disk(text: str) -> bool:
    """Whether a message of PostgreSQL's programs means that a volume is full.

    A write that fits in part is cut short without an error of the system.
    """
    return any(words in text for words in ("No space left", "wrote only", "quota exceeded"))
