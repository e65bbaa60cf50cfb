"""The volumes of a recorded storage profile: type, facts and content."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dyno.bundle.model import Phase, has_detail
from dyno.bundle.phases.io import IoDetail, Seen

_LARGEST = 1e18
"""Upper bound of sizes and facts."""


@dataclass(frozen=True)
class Subject:
    """A volume. Bundles of others are untrusted input: values of the wrong type are dropped.

    Attributes:
        kind: ``made`` (a test file), ``file`` or ``device``.
        size: Bytes used; None if unknown.
        facts: Volume facts as documented in ``dyno.host.fields``.
        content: Sampled content of an existing file or device, in percent.
    """

    name: str
    kind: str
    size: int | None
    facts: dict[str, Any]
    content: Mapping[str, float]

    @property
    def device(self) -> str | None:
        """The block device of the volume, or the volume itself if it is one."""
        found = self.facts.get("device")
        return found if isinstance(found, str) else None

    def number(self, fact: str) -> float | None:
        """Returns a numeric fact."""
        value = self.facts.get(fact)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return float(value) if abs(value) < _LARGEST and math.isfinite(value) else None


def subjects(phase: Phase) -> list[Subject]:
    """Returns the volumes of a phase; none in bundles of earlier versions."""
    if not has_detail(phase, IoDetail):
        return []
    asked, found = phase.detail.targets, phase.detail.subjects
    # Both lists have the same order; the engine invents a name for an unnamed volume.
    seen = found if len(found) == len(asked) else [Seen() for _ in asked]
    return [
        Subject(
            name=str(one.name),
            kind=str(one.kind),
            size=_size(one.bytes) or _size(of_it.bytes),
            facts=one.facts or {},
            content=of_it.content or {},
        )
        for one, of_it in zip(asked, seen, strict=True)
    ]


def _size(found: float | None) -> int | None:
    return None if found is None or abs(found) >= _LARGEST else int(found)
