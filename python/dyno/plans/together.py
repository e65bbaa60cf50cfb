"""What of a run may not go together across the sections of its options."""

from __future__ import annotations

from collections.abc import Mapping

from dyno.errors import UsageError

_SETS_THE_LOAD = "the search sets the load itself"
_NEEDS_A_RATE_THAT_STAYS = "give a --rate that stays"

EXCLUDED: tuple[tuple[str, str, str], ...] = (
    ("--rate", "--think", "a rate sets the pace itself"),
    ("--find-max", "--rate", _SETS_THE_LOAD),
    ("--find-max rate", "--think", _SETS_THE_LOAD),
    ("--find-max", "--during", "each window is to be compared with the others"),
    ("--find-max", "--criterion", "with it the limits are those of --slo"),
    ("--until-steady", "--find-max", "a search judges the steadiness of its windows itself"),
    ("--until-steady", "--during", "maintenance is what makes a level unsteady"),
    ("--until-steady", "a --rate that changes", f"it never settles; {_NEEDS_A_RATE_THAT_STAYS}"),
    (
        "--during",
        "a --rate that changes",
        f"it compares with the time before; {_NEEDS_A_RATE_THAT_STAYS}",
    ),
)
"""One option, another that it cannot be given with, and why."""


def require_together(given: Mapping[str, bool]) -> None:
    """Refuses the first pair of the table that was given.

    Args:
        given: Whether each word of the table was.

    Raises:
        UsageError: With the reason.
    """
    for one, other, reason in EXCLUDED:
        if given.get(one, False) and given.get(other, False):
            raise UsageError(f"{one} and {other} exclude each other: {reason}.")
