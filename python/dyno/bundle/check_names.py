"""Prefixes of check names, for the code that evaluates and displays checks."""

from __future__ import annotations

ANSWERS = ("answers", "published")
"""Checks that compare the rows of an answer with other rows."""

AMONG_STREAMS = "answers-streams-"
"""Checks that an engine agrees with itself. They do not prove that its answers are correct."""

ORDER = "order-"
"""Checks of the row order of an answer. They do not cover its values."""

UNPROVEN = "expected answers"
"""The check that is skipped if there are no expected answers."""

CONDITION = "condition"
ISOLATION = "isolation"
"""Consistency checks."""


def compares(name: str) -> bool:
    """Whether a check compares answers with those of another source."""
    return name.startswith(ANSWERS) and not name.startswith(AMONG_STREAMS)
