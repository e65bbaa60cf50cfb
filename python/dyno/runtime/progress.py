"""The protocol by which a stage reports its progress."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Receives the progress of one phase. Calls are cheap and thread-safe."""

    def update(self, done: float, total: float, text: str = "") -> None:
        """Reports ``done`` of ``total`` units (0: unknown), and a text on the current work."""
        ...


class Silent:
    """Shows nothing."""

    def update(self, done: float, total: float, text: str = "") -> None:
        """Does nothing."""
