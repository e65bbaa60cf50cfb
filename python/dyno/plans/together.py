"""Options of a run that cannot be combined."""

from __future__ import annotations

from collections.abc import Mapping

from dyno.errors import UsageError

_SETS_THE_LOAD = "the search sets the load"
_NEEDS_A_CONSTANT_RATE = "use a constant --rate"

EXCLUDED: tuple[tuple[str, str, str], ...] = (
    ("--rate", "--think", "a rate already sets the pace"),
    ("--find-max", "--rate", _SETS_THE_LOAD),
    ("--find-max rate", "--think", _SETS_THE_LOAD),
    ("--find-max", "--during", "all windows must be comparable"),
    ("--find-max", "--criterion", "the limits of a search are --slo"),
    ("--confirm-limit", "--find-max", "a search finds the maximum, not its cause"),
    ("--confirm-limit", "--rate", "a rate hides what more of a resource would give"),
    ("--confirm-limit", "--think", "think time hides what more of a resource would give"),
    ("--confirm-limit", "--during", "all windows must be comparable"),
    ("--confirm-limit", "--until-steady", "its windows are short"),
    ("--until-steady", "--find-max", "the search checks steadiness itself"),
    ("--until-steady", "--during", "maintenance makes a level unsteady"),
    ("--until-steady", "a changing --rate", f"it is never steady; {_NEEDS_A_CONSTANT_RATE}"),
    (
        "--during",
        "a changing --rate",
        f"it compares with the phase before; {_NEEDS_A_CONSTANT_RATE}",
    ),
)
"""Two options that cannot be combined, and the reason."""


def require_together(given: Mapping[str, bool]) -> None:
    """Refuses the first pair of the table if both were given.

    Args:
        given: Whether each option of the table was given.

    Raises:
        UsageError: With the reason.
    """
    for one, other, reason in EXCLUDED:
        if given.get(one, False) and given.get(other, False):
            raise UsageError(f"{one} and {other} cannot be combined: {reason}.")
