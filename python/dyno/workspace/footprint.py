"""Storage space of steps: before, peak and after, sampled while they run."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from dyno.errors import DynoError

SAMPLES_PER_S = 8.0

Probe = Callable[[], int]
"""Bytes occupied now."""


@runtime_checkable
class Measured(Protocol):
    """A target that reports its space more exactly than its data paths show."""

    def space_probe(self) -> tuple[Probe, bool] | None:
        """The probe, and whether it is cheap enough to call during work."""
        ...


@dataclass
class Peak:
    """Bytes over the duration of a step; None if not measurable.

    Attributes:
        first, last: At its start and end.
        highest: The maximum sample; None if only start and end were measured.
    """

    first: int | None = None
    highest: int | None = None
    last: int | None = None

    @property
    def extra(self) -> int | None:
        """Peak bytes above the start."""
        if self.highest is None or self.first is None:
            return None
        return max(0, self.highest - self.first)

    @property
    def growth(self) -> int | None:
        """Final bytes above the start."""
        return None if self.last is None or self.first is None else self.last - self.first


class Meter:
    """Samples the probes of all running steps in one thread; a context manager."""

    def __init__(self) -> None:
        self._active: dict[int, tuple[Probe, Peak]] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="dyno-footprint")

    def __enter__(self) -> Meter:
        """Starts the thread."""
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        """Ends the thread."""
        self._ended.set()
        self._thread.join()

    @contextlib.contextmanager
    def watching(self, probe: Probe | None, live: bool = True) -> Generator[Peak]:
        """Measures a step; the peak is complete when the context ends.

        Args:
            probe: Called for the bytes; None to measure nothing.
            live: Whether to call it also between start and end.
        """
        peak = Peak(first=_ask(probe))
        if live and probe is not None:
            peak.highest = peak.first
            with self._lock:
                self._active[id(peak)] = (probe, peak)
        try:
            yield peak
        except BaseException:
            # The probe may fail for the same reason, which its error must not replace.
            with contextlib.suppress(DynoError):
                self._end(peak, probe, live)
            raise
        self._end(peak, probe, live)

    def _end(self, peak: Peak, probe: Probe | None, live: bool) -> None:
        with self._lock:
            self._active.pop(id(peak), None)
        peak.last = _ask(probe)
        if live:
            _raise(peak, peak.last)

    def _run(self) -> None:
        while not self._ended.wait(1 / SAMPLES_PER_S):
            with self._lock:
                active = list(self._active.values())
            for probe, peak in active:
                _raise(peak, _ask(probe))


@dataclass(frozen=True)
class StepRecord:
    """One step of a load, as recorded in the bundle.

    Attributes:
        kind: ``create``, ``load``, ``cluster``, ``primary key``, ``index``, ``foreign key``,
            ``merge``, ``analyse`` or ``checkpoint``.
        table: Its table or partition, if a single one.
        moved_bytes: Bytes of the rows that it moved, if it moves rows.
        extra_peak_bytes: Peak bytes above those before the step; None if not measured.
        extra_rest_bytes: Final bytes above those before the step.
        table_bytes: Size of its table, for the ratio.
        memory_peak_bytes: Peak memory that the server gave it; None if not measured.
    """

    step: str
    kind: str
    seconds: float
    table: str | None = None
    moved_bytes: int | None = None
    extra_peak_bytes: int | None = None
    extra_rest_bytes: int | None = None
    table_bytes: int | None = None
    memory_peak_bytes: int | None = None

    def record(self) -> dict[str, Any]:
        """Fields for the phase detail, with ``gb_per_h`` and ``ratio`` (peak over table)."""
        moved, table, peak = self.moved_bytes, self.table_bytes, self.extra_peak_bytes
        fast = moved is not None and self.seconds > 0
        return {
            **vars(self),
            "gb_per_h": (moved or 0) / self.seconds * 3600 / 1e9 if fast else None,
            "ratio": peak / table if peak is not None and table else None,
        }


def occupied(paths: Iterable[Path]) -> int:
    """Bytes on disk of folders, and of files including those whose names start with theirs.

    That includes logs, journals and spilled data: ``x.db``, ``x.db-wal``, ``x.db.tmp/``.
    """
    total = 0
    for path in paths:
        if path.is_dir():
            total += folder_bytes(path)
            continue
        for entry in _entries(path.parent):
            if entry.name.startswith(path.name):
                total += _entry_bytes(entry)
    return total


def folder_bytes(folder: str | Path) -> int:
    """Bytes on disk under a folder; files that disappear meanwhile count as 0."""
    return sum(_entry_bytes(entry) for entry in _entries(folder))


def _entries(folder: str | Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _entry_bytes(entry: os.DirEntry[str]) -> int:
    try:
        if entry.is_dir(follow_symlinks=False):
            return folder_bytes(entry.path)
        return entry.stat(follow_symlinks=False).st_blocks * 512
    except OSError:
        return 0


def _ask(probe: Probe | None) -> int | None:
    return None if probe is None else probe()


def _raise(peak: Peak, value: int | None) -> None:
    if value is not None and (peak.highest is None or value > peak.highest):
        peak.highest = value
