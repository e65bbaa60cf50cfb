"""Untrusted storage: the profile may have measured something else than the device."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

_TOLD_ELSEWHERE = ("sampled blocks", "not steady after")
"""In notes of the engine on what rules of their own judge: compressible, unsteady storage."""


def _check(case: Case) -> Iterable[Ruling]:
    for phase in case.phases("io"):
        if phase.detail.get("direct") is False:
            yield Ruling(
                "invalid",
                "The storage profile went through the page cache: it shows memory, not the "
                "device. Choose a volume that offers O_DIRECT.",
                phase.name,
                ("direct = false",),
            )
        for note in _texts(phase.detail.get("notes")):
            if any(words in note for words in _TOLD_ELSEWHERE):
                continue
            yield Ruling("warning", f"Storage profile: {note}", phase.name)


def _texts(notes: Any) -> list[str]:
    return [str(note) for note in notes] if isinstance(notes, list) else []


RULE = Rule(
    code="untrusted-storage",
    weight=Weight.DOUBTFUL,
    definition="Storage was profiled without O_DIRECT, or the profiler had to fall back.",
    explanation="A page cache answers a hundred times faster than what it hides.",
    check=_check,
)
