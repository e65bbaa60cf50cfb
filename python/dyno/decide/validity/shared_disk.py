"""Shared disk: volumes that were compared or added up are on the same disk."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.subjects import Subject, subjects
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.profiles.volume_sets import how

_MEANS = {
    "scaling": "their total is the throughput of one disk, not of several",
    "together": "they compete for it",
    "compare": "they differ in file system or location, not in device",
}


def _check(case: Case) -> Iterable[Ruling]:
    way = how(case.bundle.run)
    on: dict[str, dict[str, None]] = {}
    for phase in case.phases("io"):
        for volume in subjects(phase):
            for disk in _disks(volume):
                on.setdefault(disk, {})[volume.name] = None
    groups = {tuple(names): disk for disk, names in on.items() if len(names) > 1}
    for names, disk in groups.items() if way in _MEANS else ():
        yield Ruling(
            "warning" if way == "scaling" else "note",
            f"{', '.join(names[:-1])} and {names[-1]} are on the same disk, {disk}: {_MEANS[way]}.",
            None,
            (f"members has {disk}",),
        )


def _disks(volume: Subject) -> list[str]:
    members = volume.facts.get("members")
    return [name for name in members if isinstance(name, str)] if isinstance(members, list) else []


RULE = Rule(
    code="shared-disk",
    weight=Weight.DOUBTFUL,
    definition=(
        "Several volumes of a storage profile are on the same disk. A warning with --scaling, "
        "otherwise a note."
    ),
    explanation="Two folders on one disk are not two disks.",
    check=_check,
)
