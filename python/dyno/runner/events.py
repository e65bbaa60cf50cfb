"""Events of a running job: phases with progress, messages and the end."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Protocol

from dyno.runtime.progress import Progress, Silent

if TYPE_CHECKING:
    from pathlib import Path

    from dyno.runner.conclude import Ended


class Events(Protocol):
    """Receives the events of a run.

    The worker thread makes the calls. Warnings and progress updates may come from any thread.
    """

    def began(self, bundle: Path) -> None:
        """Reports that the run is being recorded in the folder ``bundle``."""
        ...

    def phase(self, title: str) -> AbstractContextManager[Progress]:
        """Opens a phase as a context. Errors propagate.

        The body calls ``update(done, total, text)`` on the returned object to report progress.
        """
        ...

    def say(self, text: str = "") -> None:
        """Reports a message. Line feeds separate lines."""
        ...

    def warn(self, text: str) -> None:
        """Reports a warning, which quiet output also shows."""
        ...

    def ended(self, ended: Ended) -> None:
        """Reports that the run is recorded. Signals do not interrupt this call."""
        ...


class SilentEvents:
    """Discards all events."""

    def began(self, bundle: Path) -> None:
        """Discards the folder."""

    def phase(self, title: str) -> AbstractContextManager[Progress]:  # noqa: ARG002
        """Discards progress."""
        return nullcontext(Silent())

    def say(self, text: str = "") -> None:
        """Discards the message."""

    def warn(self, text: str) -> None:
        """Discards the warning."""

    def ended(self, ended: Ended) -> None:
        """Discards the result."""
