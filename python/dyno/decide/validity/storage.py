"""Untrusted storage: the profile may have measured something else than the device."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.profiles.remarks import remarks

_TOLD_ELSEWHERE = frozenset({"content", "unsettled"})
"""Remarks of the profiler on facts that have rules of their own: compressible, unsteady-storage."""


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
        for remark in remarks(phase.detail.get("notes")):
            if remark.code not in _TOLD_ELSEWHERE:
                weight = "invalid" if remark.code == "pages" else "warning"
                yield Ruling(weight, f"Storage profile: {remark.text}", phase.name)


RULE = Rule(
    code="untrusted-storage",
    weight=Weight.DOUBTFUL,
    definition="Storage was profiled without O_DIRECT, or from other pages of memory than asked "
    "for, or the profiler had to fall back.",
    explanation="A page cache answers a hundred times faster than what it hides.",
    check=_check,
)
