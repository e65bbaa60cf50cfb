"""What whoever has Dyno work hears meanwhile: phases with their progress, messages, the end."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Protocol

from dyno.runtime.progress import Progress, Silent

if TYPE_CHECKING:
    from dyno.runner.session import Ended


class Events(Protocol):
    """Hears of the work. Calls come from the thread that works, those of a progress from any."""

    def phase(self, title: str) -> AbstractContextManager[Progress]:
        """A phase, which begins and ends with the context; an error that ends it goes through.

        Inside, ``update(done, total, text)`` of what is given tells how far it is.
        """
        ...

    def say(self, text: str = "") -> None:
        """A message; lines are parted by line feeds."""
        ...

    def warn(self, text: str) -> None:
        """A message that matters also to who wants no others."""
        ...

    def ended(self, ended: Ended) -> None:
        """The run was recorded; no signal cuts short what this does."""
        ...


class SilentEvents:
    """Hears nothing."""

    def phase(self, title: str) -> AbstractContextManager[Progress]:  # noqa: ARG002
        """Shows nothing."""
        return nullcontext(Silent())

    def say(self, text: str = "") -> None:
        """Says nothing."""

    def warn(self, text: str) -> None:
        """Says nothing."""

    def ended(self, ended: Ended) -> None:
        """Says nothing."""
