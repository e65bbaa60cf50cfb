"""The volumes of a recorded storage profile: what each was, and what it held."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dyno.bundle.model import Phase, tells
from dyno.bundle.phases.io import IoDetail, Seen

_LARGEST = 1e18
"""No size or fact is larger."""


@dataclass(frozen=True)
class Subject:
    """A volume. Bundles of others are untrusted input: what is of another kind is left out.

    Attributes:
        kind: ``made`` (a test file), ``file`` or ``device``.
        size: Bytes of it that were used; None if that is not known.
        facts: As ``dyno.host.fields`` documents them of a volume.
        content: What a sample of an existing file or device showed, in percent.
    """

    name: str
    kind: str
    size: int | None
    facts: dict[str, Any]
    content: Mapping[str, float]

    @property
    def device(self) -> str | None:
        """The block device that carries it, or that it is."""
        found = self.facts.get("device")
        return found if isinstance(found, str) else None

    def number(self, fact: str) -> float | None:
        """A fact that is a number."""
        value = self.facts.get(fact)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return float(value) if abs(value) < _LARGEST and math.isfinite(value) else None


def subjects(phase: Phase) -> list[Subject]:
    """The volumes of a phase; none in bundles of earlier versions."""
    if not tells(phase, IoDetail):
        return []
    asked, found = phase.detail.targets, phase.detail.subjects
    # They are in one order; the engine has a name of its own for a volume without one.
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
