"""Volatile cache: what was written may not have reached the media when it was measured."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.phases.io import IoDetail
from dyno.bundle.subjects import subjects
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight


def _check(case: Case) -> Iterable[Ruling]:
    told: set[str] = set()
    for phase in case.phases_of(IoDetail):
        own = case.steps_in(phase)
        if phase.detail.fsync is True or any(step.row["syncs"] for step in own):
            continue
        if not any(step.row["writes"] for step in own):
            continue
        names = [
            volume.device or volume.name
            for volume in subjects(phase)
            if volume.facts.get("write_cache") == "write back"
        ]
        fresh = [name for name in dict.fromkeys(names) if name not in told]
        told.update(fresh)
        if fresh:
            yield Ruling(
                "note",
                f"{phase.title}: writes count when the device has taken them, and the cache of "
                f"{', '.join(fresh)} is volatile (write back). --fsync, or a profile with syncs "
                "such as log, tells what durable writes take.",
                phase.name,
                ("write_cache = write back",),
            )


RULE = Rule(
    code="volatile-cache",
    weight=Weight.DOUBTFUL,
    definition=(
        "Writes were measured without any sync, on a device whose write cache must be flushed. "
        "Always a note."
    ),
    explanation="A database waits for its commits to be durable, not for a cache to take them.",
    check=_check,
)
