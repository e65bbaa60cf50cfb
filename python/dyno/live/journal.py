"""The journal of a run, line by line as it grows."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

from dyno.errors import UsageError
from dyno.safety import plainjson, safefiles

_KEPT = 2000
_BLOCK = 1 << 20


class Journal:
    """The newest events; each has its number, from 1.

    Attributes:
        count: Events so far.
    """

    def __init__(self, bundle: Path) -> None:
        self._path = bundle / "events.jsonl"
        self._file: BinaryIO | None = None
        self._rest = b""
        self._events: list[dict[str, Any]] = []
        self.count = 0

    def read(self) -> int:
        """Reads new whole lines; returns how many there were."""
        before = self.count
        try:
            if self._file is None:
                self._file = safefiles.open_regular(self._path)
            while block := self._file.read(_BLOCK):
                *lines, self._rest = (self._rest + block).split(b"\n")
                self._rest = self._rest[:_BLOCK]
                for line in lines:
                    self._add(line)
        except (OSError, UsageError):
            return 0
        del self._events[:-_KEPT]
        return self.count - before

    def after(self, number: int) -> list[dict[str, Any]]:
        """Kept events whose numbers are larger: ``id``, ``t_ns``, ``event``, ``text``."""
        return [event for event in self._events if event["id"] > number]

    def _add(self, line: bytes) -> None:
        self.count += 1
        try:
            found = plainjson.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(found, dict):
            return
        words = [found.get(name) for name in ("title", "phase", "verb", "status", "error")]
        title = [str(word)[:200] for word in words if isinstance(word, str)]
        self._events.append({
            "id": self.count,
            "t_ns": plainjson.finite(found.get("t_ns")) or 0,
            "event": str(found.get("event"))[:100],
            "text": " · ".join(dict.fromkeys(title)),
        })  # fmt: skip
