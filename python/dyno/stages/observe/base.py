"""The probe interface. Each probe has its own file, which provides ``open_probe``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from dyno.bundle.model import CpuUse
from dyno.contracts.probe import Sample, UnavailableError


@runtime_checkable
class Probe(Protocol):
    """Reads one kind of metric.

    Counter metrics cover the time between two readings, so the first reading of such a probe
    returns none. Only one thread at a time reads a probe.
    """

    name: str

    def read(self, now_ns: int) -> list[Sample]:
        """Returns the metrics at ``now_ns``, a time of the monotonic clock.

        Raises:
            UnavailableError: If this machine does not have the source.
        """
        ...


@runtime_checkable
class Watcher(Protocol):
    """A probe that also reads server processes."""

    def watch(self, pids: Iterable[int]) -> None:
        """Replaces the server processes to read. Any thread may call this."""
        ...


@runtime_checkable
class Meter(Protocol):
    """A probe that also attributes CPU time between two points in time."""

    def begin(self) -> Any:
        """Returns the counters at the start; None if there are none. Any thread may call this."""
        ...

    def end(self, mark: Any) -> CpuUse | None:
        """Returns the CPU time used since the start."""
        ...


def read_source(path: Path) -> str:
    """Returns the text of a file that a probe requires.

    Raises:
        UnavailableError: If it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UnavailableError(f"{path} cannot be read: {error.strerror}") from error
