"""Split blocks: the kernel divided blocks that are larger than a request of the device."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.subjects import subjects
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight


def _check(case: Case) -> Iterable[Ruling]:
    seen: set[str] = set()
    for phase in case.phases("io"):
        blocks = [step.row["block_bytes"] or 0 for step in case.steps_in(phase)]
        for volume in subjects(phase):
            largest = volume.number("largest_request_bytes")
            split = sorted({block for block in blocks if largest and block > largest})
            if largest is None or not split or volume.name in seen:
                continue
            seen.add(volume.name)
            yield Ruling(
                "note",
                f"{phase.title}: {volume.device or volume.name} takes requests of at most "
                f"{largest / 1024:g} KiB, so Linux split blocks of "
                f"{', '.join(f'{block / 1024:g}' for block in split)} KiB. Their latency is of "
                "the whole block; their depth at the device was higher.",
                phase.name,
                (f"max_sectors_kb = {largest / 1024:g}",),
            )


RULE = Rule(
    code="split-blocks",
    weight=Weight.DOUBTFUL,
    definition="Blocks were larger than the largest request of a disk. Always a note.",
    explanation=(
        "Linux splits them into several requests (max_sectors_kb), so larger blocks may gain no "
        "throughput."
    ),
    check=_check,
)
