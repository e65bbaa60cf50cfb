"""The newest ticks of an agent, bounded in number and bytes."""

from __future__ import annotations

import json
import threading
import zlib
from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

from dyno.bundle.model import Clock

MINUTES = 10.0
_MOST_BYTES = 16 << 20
_COLUMNS = ("source", "subject", "metric", "value", "unit")


class _Kept(NamedTuple):
    number: int
    packed: bytes


class Ring:
    """Takes the place of a bundle for the sampler of an agent.

    Entries are numbered from 1 without gaps; the oldest are dropped.
    """

    def __init__(self, ticks: int, most_bytes: int = _MOST_BYTES) -> None:
        """Starts empty.

        Args:
            ticks: Number of entries to keep.
            most_bytes: Bytes to keep, compressed.
        """
        self.clock = Clock(unix_ns=0, monotonic_ns=0)
        """Times in the ring are of the monotonic clock."""
        self.lacks: dict[str, str] = {}
        self._kept: deque[_Kept] = deque()
        self._most, self._most_bytes = ticks, most_bytes
        self._bytes = self._number = self._tick = 0
        self._lock = threading.Lock()

    @property
    def last(self) -> int:
        """Number of the newest entry."""
        return self._number

    def add(self, table: str, rows: Iterable[dict[str, Any]]) -> None:  # noqa: ARG002
        """Adds the samples of a tick."""
        listed = list(rows)
        if listed:
            samples = [[row[name] for name in _COLUMNS] for row in listed]
            self._keep(1, {"t_ns": listed[0]["t_ns"], "samples": samples})

    def event(self, name: str, **fields: Any) -> None:
        """Adds an event of the sampler."""
        if "probe" in fields:
            self.lacks[str(fields["probe"])] = str(fields.get("reason", ""))
        words = {"name": name, **{key: str(value) for key, value in fields.items()}}
        self._keep(0, {"t_ns": self.clock.unix_now_ns(), "event": words})

    def _keep(self, ticks: int, entry: dict[str, Any]) -> None:
        with self._lock:
            self._number += 1
            self._tick += ticks
            whole = {"number": self._number, "tick": self._tick, **entry}
            packed = zlib.compress(json.dumps(whole, separators=(",", ":")).encode(), 1)
            self._kept.append(_Kept(self._number, packed))
            self._bytes += len(packed)
            while len(self._kept) > self._most or self._bytes > self._most_bytes:
                self._bytes -= len(self._kept.popleft().packed)

    def after(self, number: int, most_bytes: int) -> bytes:
        """Entries after ``number``, oldest first, as a JSON list of about ``most_bytes``."""
        with self._lock:
            first = self._kept[0].number if self._kept else 1
            start = max(number + 1 - first, 0)
            wanted = [self._kept[place].packed for place in range(start, len(self._kept))]
        found: list[bytes] = []
        size = 0
        for packed in wanted:
            found.append(zlib.decompress(packed))
            size += len(found[-1])
            if size >= most_bytes:
                break
        return b"[" + b",".join(found) + b"]"
