"""Untrusted storage: the profile may have measured memory instead of the device."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.phases.io import IoDetail
from dyno.bundle.subjects import subjects
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.host.storage import OWN_CACHE

_TOLD_ELSEWHERE = frozenset({"content", "unsettled"})
"""Remarks of the profiler that other rules report: compressible, unsteady-storage."""


def _check(case: Case) -> Iterable[Ruling]:
    for phase in case.phases_of(IoDetail):
        if phase.detail.direct is False:
            yield Ruling(
                "invalid",
                "The storage profile used the page cache: it measured memory, not the device. "
                "Use a volume that supports O_DIRECT.",
                phase.name,
                ("direct = false",),
            )
        behind = {
            words: volume.name
            for volume in subjects(phase)
            if isinstance(words := volume.facts.get("in_memory"), str)
        }
        for words, name in behind.items():
            yield Ruling(
                "invalid",
                f"{phase.title}: {name} is memory, not storage: {words}.",
                phase.name,
                (f"in_memory of {name}",),
            )
        for volume in subjects(phase):
            cache = OWN_CACHE.get(str(volume.facts.get("filesystem")))
            if cache is not None:
                yield Ruling(
                    "warning",
                    f"{phase.title}: {cache}, which O_DIRECT may not bypass, and Dyno cannot see "
                    f"what of {volume.name} is in it. Use a --size of several times the memory.",
                    phase.name,
                    (f"filesystem of {volume.name}",),
                )
        for remark in phase.detail.remarks:
            if remark.code not in _TOLD_ELSEWHERE:
                yield Ruling("warning", f"Storage profile: {remark.text}", phase.name)


RULE = Rule(
    code="untrusted-storage",
    weight=Weight.DOUBTFUL,
    definition=(
        "Storage was profiled without O_DIRECT, or on a device in memory or behind the page cache "
        "(a RAM disk, a loop device without direct I/O). Warning: the profiler used a fallback, or "
        "the file system has a cache of its own."
    ),
    explanation="The page cache can be a hundred times faster than the device.",
    check=_check,
)
