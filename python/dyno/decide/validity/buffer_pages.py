"""Buffer pages: large blocks came from other pages of memory than asked for, or from both kinds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from dyno.bundle.phases.io import IoDetail
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.profiles.pages import LEAST_PERCENT, Granted, granted


def _check(case: Case) -> Iterable[Ruling]:
    for phase in case.phases_of(IoDetail):
        told = _told(phase.detail.pages, granted(phase.detail))
        if told is not None:
            level, words = told
            yield Ruling(level, f"{phase.title}: {words}", phase.name, ("huge_percent",))


def _told(
    asked: object, found: Granted | None
) -> tuple[Literal["invalid", "warning", "note"], str] | None:
    """What the pages that were granted say against what was asked for."""
    if asked in {"huge", "ordinary"} and found not in {asked, None}:
        return (
            "invalid",
            f"buffers were to be in {asked} pages of memory and were not. See "
            "/sys/kernel/mm/transparent_hugepage/enabled, or use --pages auto.",
        )
    if asked == "huge" and found is None:
        return (
            "warning",
            "this system does not tell whether buffers were in huge pages of memory, as asked for.",
        )
    if asked == "auto" and found == "mixed":
        return (
            "warning",
            "some of the buffers were in huge pages of memory, some not, as the system granted no "
            "more. Figures of large blocks may differ for that alone: --pages ordinary has them "
            "alike.",
        )
    if asked == "auto" and found == "ordinary":
        return (
            "note",
            "the system granted no huge pages of memory for buffers. From such pages large blocks "
            "can be several times as fast.",
        )
    return None


RULE = Rule(
    code="buffer-pages",
    weight=Weight.DOUBTFUL,
    definition=(
        "Buffers of the storage profile were to be in huge pages of memory, or in ordinary ones, "
        f"and in some step fewer than {LEAST_PERCENT:g} % of them were. A warning: with --pages "
        "auto they were in both kinds, or huge ones were asked for and the system does not tell; a "
        "note: in ordinary ones."
    ),
    explanation=(
        "A device gets a block in as many pieces as it has pages that lie apart: a virtual disk "
        "gave three times as much from huge ones."
    ),
    check=_check,
)
