"""The protocol by which a stage reports its progress."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Where one phase reports to. Calls are cheap and may come from any thread."""

    def update(self, done: float, total: float, text: str = "") -> None:
        """``done`` of ``total`` units (0: unknown), and a few words on what is under way."""
        ...


class Silent:
    """Shows nothing."""

    def update(self, done: float, total: float, text: str = "") -> None:
        """Does nothing."""
