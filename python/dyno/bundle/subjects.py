"""The volumes of a recorded storage profile: what each was, and what it held."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dyno.bundle.model import Phase


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
    content: dict[str, float]

    @property
    def device(self) -> str | None:
        """The block device that carries it, or that it is."""
        found = self.facts.get("device")
        return found if isinstance(found, str) else None

    def number(self, fact: str) -> float | None:
        """A fact that is a number."""
        return _number(self.facts.get(fact))


def subjects(phase: Phase) -> list[Subject]:
    """The volumes of a phase; none in bundles of earlier versions."""
    asked, found = _dicts(phase.detail.get("targets")), _dicts(phase.detail.get("subjects"))
    # They are in one order; the engine has a name of its own for a volume without one.
    seen = found if len(found) == len(asked) else [{} for _ in asked]
    return [
        Subject(
            name=str(one.get("name")),
            kind=str(one.get("kind")),
            size=_size(one) or _size(of_it),
            facts=facts if isinstance(facts := one.get("facts"), dict) else {},
            content=_numbers(of_it.get("content")),
        )
        for one, of_it in zip(asked, seen, strict=True)
    ]


def _size(one: dict[str, Any]) -> int | None:
    size = _number(one.get("bytes"))
    return None if size is None else int(size)


def _dicts(listed: Any) -> list[dict[str, Any]]:
    items: list[Any] = listed if isinstance(listed, list) else []
    return [item for item in items if isinstance(item, dict)]


def _numbers(found: Any) -> dict[str, float]:
    items: dict[Any, Any] = found if isinstance(found, dict) else {}
    pairs = ((str(name), _number(value)) for name, value in items.items())
    return {name: value for name, value in pairs if value is not None}


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e18 and math.isfinite(value) else None
