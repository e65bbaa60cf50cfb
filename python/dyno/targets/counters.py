"""Growth of a server's counters between two readings, across resets and restarts."""

from __future__ import annotations

from collections.abc import Mapping


class Counters:
    """Compares each reading with the previous one."""

    def __init__(self) -> None:
        self._last: Mapping[str, float] = {}
        self._last_ns = 0

    def growth(self, now_ns: int, read: Mapping[str, float]) -> tuple[float, dict[str, float]]:
        """Seconds since the previous reading, and the growth of each counter.

        The growth is empty at the first reading, and after a reset: if any counter decreased.
        Counters that the previous reading lacked are left out.
        """
        seconds = (now_ns - self._last_ns) / 1e9
        last, self._last, self._last_ns = self._last, dict(read), now_ns
        grown = {name: value - last[name] for name, value in read.items() if name in last}
        if not grown or seconds <= 0 or min(grown.values()) < 0:
            return 0.0, {}
        return seconds, grown
