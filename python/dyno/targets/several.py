"""Several databases of a workload at once: which targets have them."""

from __future__ import annotations

from dyno.contracts.target import Target
from dyno.errors import UsageError

_NONE = "several databases are for transactions, which it does not support"


def able(target: Target) -> bool | str:
    """Whether a target has them, or why not; it says so in ``SEVERAL_DATABASES``."""
    found: bool | str = getattr(target, "SEVERAL_DATABASES", _NONE)
    return found


def require(target: Target, count: int) -> None:
    """Refuses what a target cannot, before it is started.

    Raises:
        UsageError: With the reason.
    """
    reason = able(target)
    if count > 1 and reason is not True:
        raise UsageError(
            f"The {target.name} target does not support --databases {count}: {reason}."
        )
