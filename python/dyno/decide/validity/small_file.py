"""Small file: a cache of the hypervisor, storage server or controller may hold the test file."""

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
    seen: set[str] = set()
    for phase in case.phases("io"):
        found = subjects(phase)
        # With several volumes at once the latencies of each are unknown.
        if len(found) != 1 or not _may_hide(found[0]) or found[0].name in seen:
            continue
        volume = found[0]
        least = _least_ms(volume)
        for step in filter(_is_lone_read, case.steps_in(phase)):
            key = step.metrics.side("read").service("p50")
            value = case.value(key)
            if value is not None and value < least:
                seen.add(volume.name)
                medium = "spinning disks" if least == DISK_MS else "flash"
                yield Ruling(
                    "warning",
                    f"{phase.title}: random reads took {value:.2g} ms at depth 1, too fast for "
                    f"{medium}. A cache outside this machine may hold the "
                    f"{bytes_text(volume.size or 0)} file. Use a --size larger than this "
                    f"machine's memory ({bytes_text(volume.number('memory_bytes') or 0)}).",
                    phase.name,
                    (key.name,),
                )
                break
        else:
            seen.add(volume.name)
            yield Ruling(
                "note",
                f"{phase.title}: the {bytes_text(volume.size or 0)} file is smaller than this "
                f"machine's memory ({bytes_text(volume.number('memory_bytes') or 0)}). The cache "
                "of a hypervisor, storage server or controller may hold it.",
                phase.name,
            )


def _may_hide(volume: Subject) -> bool:
    """Whether a cache outside this machine could hold the file."""
    memory, device = volume.number("memory_bytes"), volume.device or ""
    if volume.size is None or memory is None or volume.size >= memory:
        return False
    if device.startswith("nvme") and not volume.facts.get("remote"):
        return False  # a local drive: its cache is part of the device
    return any(volume.facts.get(fact) for fact in ("virtual", "remote", "raid"))


def _least_ms(volume: Subject) -> float:
    # Linux reports virtual disks as rotational whatever the media.
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
        "The file is smaller than this machine's memory, it is on a virtual disk, a remote disk or "
        f"an array, and the median random read at depth 1 took less than {FLASH_MS:g} ms "
        f"({DISK_MS:g} ms on spinning disks). A note if reads took longer."
    ),
    explanation=(
        "O_DIRECT bypasses this machine's page cache, but not the cache of a hypervisor, a storage "
        "server or a controller. A flash read takes about 50 µs, half a disk rotation 2 ms or "
        "more. Faster reads came from memory."
    ),
    check=_check,
)
