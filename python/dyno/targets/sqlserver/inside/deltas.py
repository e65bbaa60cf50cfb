"""Growth of counters by name between two readings. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)

Counts = tuple[int, ...]


def growth(
    before: Mapping[Name, Counts], after: Mapping[Name, Counts]
) -> dict[Name, Counts] | None:
    """The growth of each counter; None after a reset.

    Counters that appear grew from 0. They were all reset if any decreased or vanished.
    """
    if before.keys() - after.keys():
        return None
    found: dict[Name, Counts] = {}
    for name, now in after.items():
        then = before.get(name, (0,) * len(now))
        grown = tuple(new - old for new, old in zip(now, then, strict=True))
        if min(grown, default=0) < 0:
            return None
        found[name] = grown
    return found


def grown_alone(before: Mapping[Name, Counts], after: Mapping[Name, Counts]) -> dict[Name, Counts]:
    """The growth of counters that are reset one by one.

    Those that decreased, or that appeared, are left out: it is unknown what they counted before.
    """
    found: dict[Name, Counts] = {}
    for name, now in after.items():
        if name in before:
            grown = tuple(new - old for new, old in zip(now, before[name], strict=True))
            if min(grown, default=0) >= 0:
                found[name] = grown
    return found
