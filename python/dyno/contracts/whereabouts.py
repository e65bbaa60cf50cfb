"""What a server says about its process and its files, so that they can be found on its machine."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class Told:
    """The answers of a server. They hold on its own machine, wherever Dyno runs.

    Attributes:
        programs: Names of its executables.
        pid: The process of a session; None to search all processes for ``programs``.
        age_s: Seconds since that process, or the server, started; None if it is not told.
        data: Its data folder; empty without the right to read it.
        places: Paths by role, and of tablespaces by volume (``tablespace:NAME``). Relative ones
            begin at ``data``.
        link: A path of ``places`` that may be a link: where it leads counts.
        notes: Why something is not told, and the remedy.
    """

    programs: tuple[str, ...]
    pid: int | None = None
    age_s: float | None = None
    data: str = ""
    places: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    link: str = ""
    notes: tuple[str, ...] = ()


@runtime_checkable
class Telling(Protocol):
    """A server whose process and files can be found on another machine."""

    def told(self) -> AbstractContextManager[Told]:
        """Asks the server. The process that it names exists while the context is open.

        Raises:
            DynoError: If it does not respond.
        """
        ...
