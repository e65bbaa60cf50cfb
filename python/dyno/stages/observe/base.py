"""What a probe is. Each lives in a file of its own that offers ``open_probe``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from dyno.bundle.model import CpuUse
from dyno.contracts.probe import Sample, UnavailableError


@runtime_checkable
class Probe(Protocol):
    """Reads one kind of figure.

    Figures of counters concern the time between two readings, so the first reading of such a
    probe returns none. Readings come from one thread at a time.
    """

    name: str

    def read(self, now_ns: int) -> list[Sample]:
        """Figures at ``now_ns``, a time of the monotonic clock.

        Raises:
            UnavailableError: If this machine does not have the source.
        """
        ...


@runtime_checkable
class Watcher(Protocol):
    """A probe that also reads processes it is told of."""

    def watch(self, pids: Iterable[int]) -> None:
        """Replaces the server processes to read; may be called from any thread."""
        ...


@runtime_checkable
class Meter(Protocol):
    """A probe that also tells whose work the CPUs did between two moments."""

    def begin(self) -> Any:
        """Counters at the first moment; None if there are none. From any thread."""
        ...

    def end(self, mark: Any) -> CpuUse | None:
        """What was used since then."""
        ...


def read_source(path: Path) -> str:
    """The text of a file that a probe cannot do without.

    Raises:
        UnavailableError: If it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UnavailableError(f"{path} cannot be read: {error.strerror}") from error
