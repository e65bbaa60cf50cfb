"""Compressible: the data read is zeroes, duplicates or compressible."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.subjects import Subject, subjects
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

WARNING_PERCENT = 5.0
MOST_PERCENT = 25.0

_ALIKE = ("zero_percent", "duplicate_percent")


def _check(case: Case) -> Iterable[Ruling]:
    reported: set[str] = set()
    for phase in case.phases("io"):
        if not any(step.row["reads"] for step in case.steps_in(phase)):
            continue
        for volume in subjects(phase):
            seen = _seen(volume)
            if not seen or volume.name in reported:
                continue
            reported.add(volume.name)
            spoils = sum(volume.content.get(kind, 0.0) for kind in _ALIKE) >= MOST_PERCENT
            parts = ", ".join(f"{percent:.0f} % {kind}" for kind, percent in seen.items())
            yield Ruling(
                "invalid" if spoils else "warning",
                f"{phase.title}: sampled content of {volume.name}: {parts}. Storage with "
                "compression, deduplication or thin provisioning reads such blocks faster than "
                "its media can. Profile a folder instead: Dyno writes its own file there.",
                phase.name,
                tuple(f"{name} = {value:g}" for name, value in volume.content.items()),
            )


def _seen(volume: Subject) -> dict[str, float]:
    """Percent by kind, of kinds above the threshold."""
    content = volume.content
    zeroes = content.get("zero_percent", 0.0)
    found = {
        "zeroes": zeroes,
        "duplicates": content.get("duplicate_percent", 0.0),
        # Zeroes compress to almost nothing, and are counted above.
        "compressible": 100.0 - content.get("compressed_percent", 100.0) - zeroes,
    }
    return {kind: percent for kind, percent in found.items() if percent >= WARNING_PERCENT}


RULE = Rule(
    code="compressible",
    weight=Weight.DOUBTFUL,
    definition=(
        f"At least {MOST_PERCENT:g} % of the blocks sampled from the file or device read are "
        f"zeroes or duplicates. Warning: {WARNING_PERCENT:g} %, or fast compression saves "
        f"{WARNING_PERCENT:g} %."
    ),
    explanation=(
        "Thin volumes return zeroes without media access. Deduplication and compression make "
        "reads faster than the media."
    ),
    check=_check,
)
