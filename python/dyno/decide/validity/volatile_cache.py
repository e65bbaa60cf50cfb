"""Volatile cache: writes completed in a volatile cache, not on the media."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.phases.io import IoDetail
from dyno.bundle.subjects import subjects
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight


def _check(case: Case) -> Iterable[Ruling]:
    seen: set[str] = set()
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
        fresh = [name for name in dict.fromkeys(names) if name not in seen]
        seen.update(fresh)
        if fresh:
            yield Ruling(
                "note",
                f"{phase.title}: writes complete in the volatile cache of {', '.join(fresh)} "
                "(write back). Use --fsync, or a profile with syncs such as log, to measure "
                "durable writes.",
                phase.name,
                ("write_cache = write back",),
            )


RULE = Rule(
    code="volatile-cache",
    weight=Weight.DOUBTFUL,
    definition=(
        "Writes were measured without fsync on a device with a write-back cache. Always a note."
    ),
    explanation="A database commit waits for durable storage, not for the cache.",
    check=_check,
)
