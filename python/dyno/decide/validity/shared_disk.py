"""Shared disk: volumes that were set against each other, or added up, lie on the same disks."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.subjects import Subject, subjects
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.profiles.arms import how

_MEANS = {
    "scaling": "what they give at once is what it gives, not what so many devices would",
    "together": "at once they take from each other",
    "compare": "they differ by file system or place, not by device",
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
            f"{', '.join(names[:-1])} and {names[-1]} lie on the same disk, {disk}: {_MEANS[way]}.",
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
        "Several volumes of a storage profile lie on the same disk. A warning where more and more "
        "of them are measured at once (--scaling), else a note."
    ),
    explanation="Two folders of one disk are not two disks.",
    check=_check,
)
