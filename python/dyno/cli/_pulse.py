"""The newest numbers of a running run, in few words for the terminal."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from dyno.errors import DynoError

if TYPE_CHECKING:
    from dyno.live.watched import Watched

_EVERY_S = 1.0
_STALE_S = 10.0
_PATIENCE_S = 2.0
_RATES = {"oltp": "tps", "io": "IOPS", "dss": "queries/s"}
"""Unit of the rate by kind of phase."""


class Pulse:
    """Reads the bundle of a running run once a second, in a thread of its own.

    Attributes:
        text: Rate, p95, errors and CPU; empty until there is something.
    """

    def __init__(self, bundle: Path) -> None:
        self.text = ""
        self._ends: float | None = None
        self._bundle = bundle
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True, name="dyno-pulse")
        self._thread.start()

    def left_s(self) -> float | None:
        """Expected seconds to the end of the run; None if unknown."""
        return None if self._ends is None else max(0.0, self._ends - time.time())

    def stop(self) -> None:
        """Ends the thread and waits for it, so that the end of the process does not cut it off."""
        self._ended.set()
        self._thread.join(_PATIENCE_S)

    def _follow(self) -> None:
        # Imports of half a second: they must not delay the run.
        if self._ended.wait(_EVERY_S):
            return
        from dyno.live.watched import Watched

        try:
            watched = Watched(self._bundle)
            while not self._ended.wait(_EVERY_S):
                watched.poll(_EVERY_S)
                self.text = words(watched)
                found = watched.progress
                left_s = None if found is None else found.run_left_s
                self._ends = None if found is None or left_s is None else found.t_ns / 1e9 + left_s
            watched.close()
        except (DynoError, OSError):  # a disk that is full, a folder that was removed
            self.text = ""


def words(watched: Watched) -> str:
    """Rate, p95, errors and CPU of a run; without operations in the last seconds only the CPU."""
    from dyno.live.charts import headline

    found = headline(watched)
    parts: list[str] = []
    kinds = [one.kind for one in watched.run.phases if one.end_ns is None]
    # At the same time, they are transactions and queries.
    kind = "" if "mix" in kinds else kinds[-1] if kinds else ""
    rate, p95 = found.get("throughput"), found.get("p95")
    age_s = (watched.samples.last_ns - watched.operations.last_ns) / 1e9
    if rate is not None and age_s < _STALE_S:
        parts.append(f"{_short(rate)} {_RATES.get(kind, 'ops/s')}")
        if p95 is not None:
            parts.append(f"p95 {_short(p95)} ms")
        parts.append(f"err {found.get('errors') or 0:,.0f}")
    if (cpu := found.get("cpu")) is not None:
        parts.append(f"CPU {cpu:.0f}%")
    return " ".join(parts)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
