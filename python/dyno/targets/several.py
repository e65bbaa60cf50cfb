"""Support of several databases of a workload in one target."""

from __future__ import annotations

from dyno.contracts.target import Target
from dyno.errors import UsageError

_NONE = "Dyno does not place several databases in it"


def able(target: Target) -> bool | str:
    """Whether a target supports them, or why not (``SEVERAL_DATABASES``)."""
    found: bool | str = getattr(target, "SEVERAL_DATABASES", _NONE)
    return found


def require(target: Target, count: int) -> None:
    """Rejects a target without support, before it is started.

    Raises:
        UsageError: With the reason.
    """
    reason = able(target)
    if count > 1 and reason is not True:
        raise UsageError(
            f"The {target.name} target does not support --databases {count}: {reason}."
        )
