"""Buffer pages: large blocks came from other pages of memory than asked for, or from both kinds."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.profiles.pages import LEAST_PERCENT, granted


def _check(case: Case) -> Iterable[Ruling]:
    for phase in case.phases("io"):
        asked, found = phase.detail.get("pages"), granted(phase.detail)
        if asked in {"huge", "ordinary"} and found not in {asked, None}:
            yield Ruling(
                "invalid",
                f"{phase.title}: buffers were to be in {asked} pages of memory and were not. See "
                "/sys/kernel/mm/transparent_hugepage/enabled, or use --pages auto.",
                phase.name,
                ("huge_percent",),
            )
        elif asked == "auto" and found == "mixed":
            yield Ruling(
                "warning",
                f"{phase.title}: some of the buffers were in huge pages of memory, some not, as "
                "the system granted no more. Figures of large blocks may differ for that alone: "
                "--pages ordinary has them alike.",
                phase.name,
                ("huge_percent",),
            )
        elif asked == "auto" and found == "ordinary":
            yield Ruling(
                "note",
                f"{phase.title}: the system granted no huge pages of memory for buffers. From "
                "such pages large blocks can be several times as fast.",
                phase.name,
                ("huge_percent",),
            )


RULE = Rule(
    code="buffer-pages",
    weight=Weight.DOUBTFUL,
    definition=(
        "Buffers of the storage profile were to be in huge pages of memory, or in ordinary ones, "
        f"and in some step fewer than {LEAST_PERCENT:g} % of them were. A warning: with --pages "
        "auto they were in both kinds; a note: in ordinary ones."
    ),
    explanation=(
        "A device gets a block in as many pieces as it has pages that lie apart: a virtual disk "
        "gave three times as much from huge ones."
    ),
    check=_check,
)
