"""Counters of many things at one time, and their growth."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

Row = Mapping[str, Any]


def grown(before: Row | None, after: Row, counters: Iterable[str]) -> dict[str, Any]:
    """``after`` with the growth of its counters since ``before``.

    Without ``before``, or if a counter decreased, the counters began at 0 meanwhile.
    """
    counters = tuple(counters)
    if before is None or any(after[name] < before[name] for name in counters):
        return dict(after)
    return {**after, **{name: after[name] - before[name] for name in counters}}


def most(found: Mapping[Hashable, Row], limit: int, *measures: str) -> list[Hashable]:
    """The keys of the rows with the highest values of any of the measures, at most ``limit``."""
    ranks = [
        sorted(found, key=lambda key, name=name: found[key][name], reverse=True)
        for name in measures
    ]
    kept: dict[Hashable, None] = {}
    for alike in zip(*ranks, strict=True):
        for key in alike:
            if len(kept) < limit:
                kept[key] = None
    return list(kept)
