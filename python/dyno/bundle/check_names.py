"""How the names of checks start, for those who judge and show them."""

from __future__ import annotations

ANSWERS = ("answers", "published")
"""Of checks on answers, in which rows are compared with others."""

AMONG_STREAMS = "answers-streams-"
"""Of those that an engine agrees with itself, which prove nothing of what it answers."""

ORDER = "order-"
"""Of checks on the order of an answer's rows: they say nothing of its values."""

UNPROVEN = "expected answers"
"""The check that is skipped where there are no answers to expect."""

CONDITION = "condition"
ISOLATION = "isolation"
"""Of checks of consistency."""


def compares(name: str) -> bool:
    """Whether a check compares answers with what somebody else found."""
    return name.startswith(ANSWERS) and not name.startswith(AMONG_STREAMS)
