"""Buffer pages: I/O buffers did not use the requested page size, or used both sizes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from dyno.bundle.phases.io import IoDetail
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.profiles.pages import LEAST_PERCENT, Granted, granted


def _check(case: Case) -> Iterable[Ruling]:
    for phase in case.phases_of(IoDetail):
        mismatch = _mismatch(phase.detail.pages, granted(phase.detail))
        if mismatch is not None:
            level, words = mismatch
            yield Ruling(level, f"{phase.title}: {words}", phase.name, ("huge_percent",))


def _mismatch(
    asked: object, found: Granted | None
) -> tuple[Literal["invalid", "warning", "note"], str] | None:
    """Compares the granted page size with the requested one."""
    if asked in {"huge", "ordinary"} and found not in {asked, None}:
        return (
            "invalid",
            f"buffers did not use {asked} pages as requested. Check "
            "/sys/kernel/mm/transparent_hugepage/enabled, or use --pages auto.",
        )
    if asked == "huge" and found is None:
        return (
            "warning",
            "this system does not report whether buffers used huge pages as requested.",
        )
    if asked == "auto" and found == "mixed":
        return (
            "warning",
            "only some buffers used huge pages; the system granted no more. Results for large "
            "blocks may differ for this reason alone. Use --pages ordinary for uniform buffers.",
        )
    if asked == "auto" and found == "ordinary":
        return (
            "note",
            "the system granted no huge pages for buffers. Large blocks can be several times "
            "faster with huge pages.",
        )
    return None


RULE = Rule(
    code="buffer-pages",
    weight=Weight.DOUBTFUL,
    definition=(
        "The storage profile requested huge or ordinary pages for its buffers, and in some step "
        f"fewer than {LEAST_PERCENT:g} % of the buffers used them. Warning: with --pages auto "
        "buffers used both sizes, or huge pages were requested and the system does not report "
        "them. Note: with --pages auto buffers used ordinary pages."
    ),
    explanation=(
        "A large block in ordinary pages is split into many segments. With huge pages a virtual "
        "disk reached three times the throughput."
    ),
    check=_check,
)
