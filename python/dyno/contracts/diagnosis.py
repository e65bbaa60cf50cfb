"""Targets that report what they are and what Dyno may do in them, for someone who has no access."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Diagnosing(Protocol):
    """A target whose state can be sent to others as a text."""

    def diagnosis(self) -> str:
        """The report, without passwords and without any of the user's data. Changes nothing.

        A failed statement is a line of the report, and so is a failed login.
        """
        ...
