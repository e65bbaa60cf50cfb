"""Targets that know which relation is in which of their files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

Relations = Callable[[str], str | None]
"""The relation in a file, by the end of its path; None if it has none, or is unknown."""


@runtime_checkable
class NamesFiles(Protocol):
    """A target that knows the relations in its files."""

    def relations(self) -> Relations:
        """The relations in its files as they are now.

        Raises:
            DynoError: If the server does not respond.
        """
        ...
