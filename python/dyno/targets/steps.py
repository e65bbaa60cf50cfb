"""Sequential steps after a load, each with its time and extra space."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator
from typing import Any

from dyno.contracts.target import Progress
from dyno.workspace.footprint import Meter, Probe, StepRecord


class Steps:
    """Times ``count`` steps and measures their space with ``probe``; a context manager."""

    def __init__(self, count: int, probe: Probe, progress: Progress) -> None:
        self._count = count
        self._probe = probe
        self._progress = progress
        self._meter = Meter()
        self._seconds: dict[str, float] = {}
        self._space: list[dict[str, Any]] = []
        self._start = time.monotonic()

    def __enter__(self) -> Steps:
        """Starts the measurement."""
        self._meter.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        """Ends the measurement."""
        self._meter.__exit__(*exc)

    @contextlib.contextmanager
    def step(
        self, name: str, kind: str, table: str | None = None, size: int | None = None
    ) -> Generator[None]:
        """Measures one step; it moves ``size`` bytes of ``table`` if it moves rows."""
        self._progress(len(self._seconds), self._count, name)
        began = time.monotonic()
        with self._meter.watching(self._probe) as peak:
            yield
        self._seconds[name] = time.monotonic() - began
        record = StepRecord(
            step=name,
            kind=kind,
            seconds=self._seconds[name],
            table=table,
            moved_bytes=size,
            extra_peak_bytes=peak.extra,
            extra_rest_bytes=peak.growth,
            table_bytes=size,
        )
        self._space.append(record.record())

    def done(self) -> dict[str, Any]:
        """Seconds by step, ``total``, and ``space``, as :meth:`Target.index` returns them."""
        self._progress(self._count, self._count, "")
        return {**self._seconds, "total": time.monotonic() - self._start, "space": self._space}
