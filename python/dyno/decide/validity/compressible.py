"""Compressible: what was read is zeroes, duplicates, or shrinks."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.subjects import Subject, subjects
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

WARNING_PERCENT = 5.0
MOST_PERCENT = 25.0

_ALIKE = ("zero_percent", "duplicate_percent")


def _check(case: Case) -> Iterable[Ruling]:
    told: set[str] = set()
    for phase in case.phases("io"):
        if not any(step.row["reads"] for step in case.steps_in(phase)):
            continue
        for volume in subjects(phase):
            seen = _seen(volume)
            if not seen or volume.name in told:
                continue
            told.add(volume.name)
            spoils = sum(volume.content.get(kind, 0.0) for kind in _ALIKE) >= MOST_PERCENT
            parts = ", ".join(f"{percent:.0f} % {kind}" for kind, percent in seen.items())
            yield Ruling(
                "invalid" if spoils else "warning",
                f"{phase.title}: of what was sampled of {volume.name}, {parts}: storage that "
                "compresses, shares or leaves out blocks reads those faster than its media can. "
                "Measure a folder, where Dyno writes a file of its own.",
                phase.name,
                tuple(f"{name} = {value:g}" for name, value in volume.content.items()),
            )


def _seen(volume: Subject) -> dict[str, float]:
    """Percent by kind, those beyond the limit."""
    content = volume.content
    zeroes = content.get("zero_percent", 0.0)
    found = {
        "zeroes": zeroes,
        "duplicates": content.get("duplicate_percent", 0.0),
        # Of zeroes nearly all.
        "saved by compression": 100.0 - content.get("compressed_percent", 100.0) - zeroes,
    }
    return {kind: percent for kind, percent in found.items() if percent >= WARNING_PERCENT}


RULE = Rule(
    code="compressible",
    weight=Weight.DOUBTFUL,
    definition=(
        "Of the blocks sampled of an existing file or device that was read, at least "
        f"{MOST_PERCENT:g} % are zeroes or duplicates. A warning: {WARNING_PERCENT:g} %, or as "
        "much saved by a fast compression."
    ),
    explanation=(
        "Thin volumes answer zeroes without any media, and others read duplicates and what shrinks "
        "faster than what they hold for good."
    ),
    check=_check,
)
