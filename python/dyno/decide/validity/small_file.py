"""Small file: a cache below this machine may have held all of the test file."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.subjects import Subject, subjects
from dyno.config.units import bytes_text
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.profiles.steps import Step

FLASH_MS = 0.05
DISK_MS = 1.0
LARGEST_BLOCK = 16 << 10


def _check(case: Case) -> Iterable[Ruling]:
    told: set[str] = set()
    for phase in case.phases("io"):
        found = subjects(phase)
        # At depth 1 one volume is asked; of several at once none can be told apart.
        if len(found) != 1 or not _may_hide(found[0]) or found[0].name in told:
            continue
        volume = found[0]
        least = _least_ms(volume)
        for step in filter(_is_lone_read, case.steps_in(phase)):
            key = step.metrics.side("read").service("p50")
            value = case.value(key)
            if value is not None and value < least:
                told.add(volume.name)
                medium = "spinning disks" if least == DISK_MS else "flash"
                yield Ruling(
                    "warning",
                    f"{phase.title}: random reads took {value:.2g} ms at depth 1, which {medium} "
                    f"cannot do: a cache below this machine may have held the file of "
                    f"{bytes_text(volume.size or 0)}. Give a --size beyond the "
                    f"{bytes_text(volume.number('memory_bytes') or 0)} of this machine's memory, "
                    "or more.",
                    phase.name,
                    (key.name,),
                )
                break
        else:
            told.add(volume.name)
            yield Ruling(
                "note",
                f"{phase.title}: the file of {bytes_text(volume.size or 0)} is smaller than this "
                f"machine's memory ({bytes_text(volume.number('memory_bytes') or 0)}); what lies "
                "below a virtual, remote or combined disk may have held it in a cache of its own.",
                phase.name,
            )


def _may_hide(volume: Subject) -> bool:
    """Whether something below this machine has memory of its own that could hold the file."""
    memory, device = volume.number("memory_bytes"), volume.device or ""
    if volume.size is None or memory is None or volume.size >= memory:
        return False
    if device.startswith("nvme") and not volume.facts.get("remote"):
        return False  # the drive itself: what it does is what there is to measure
    return any(volume.facts.get(fact) for fact in ("virtual", "remote", "raid"))


def _least_ms(volume: Subject) -> float:
    # Of a virtual disk the kernel says 'rotational' whatever lies below it.
    spins = volume.facts.get("rotational") is True and not volume.facts.get("virtual")
    return DISK_MS if spins else FLASH_MS


def _is_lone_read(step: Step) -> bool:
    row = step.row
    return (
        step.load.depth == 1
        and row["pattern"] == "random"
        and row["read_percent"] == 100
        and 0 < (row["block_bytes"] or 0) <= LARGEST_BLOCK
    )


RULE = Rule(
    code="small-file",
    weight=Weight.DOUBTFUL,
    definition=(
        "The file is smaller than this machine's memory, it lies on a virtual or remote disk or an "
        f"array, and half of the random reads at depth 1 took less than {FLASH_MS:g} ms "
        f"({DISK_MS:g} ms where the disks spin). A warning; if they took longer, a note."
    ),
    explanation=(
        "O_DIRECT passes this machine's page cache, not the memory of a hypervisor, a storage "
        "server or a controller. To sense a page of flash takes some 50 µs, before the way there "
        "and back; half a turn of a disk takes 2 ms and more: what is faster came from memory."
    ),
    check=_check,
)
