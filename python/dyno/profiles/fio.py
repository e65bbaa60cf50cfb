"""Exports a profile as a fio job file, so that another tool can repeat the test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dyno.errors import UsageError
from dyno.profiles.fill import Stage
from dyno.profiles.job import PAGE, Job
from dyno.profiles.model import Curve, Profile
from dyno.profiles.volume import How, Volume, volume_sets

_FILE = "dyno-fio.dat"
_HUGE_PAGE = 2 << 20
_ROUNDED_MOST = 0.05


@dataclass(frozen=True)
class _Turn:
    """Volumes measured together at a fill level, with the settings that their jobs share.

    Attributes:
        start: Prefix of its section names.
        sizes: Bytes used of each volume, by name; omits volumes of unknown size.
        timed: Step duration in fio syntax.
    """

    start: str
    volumes: Sequence[Volume]
    sizes: Mapping[str, int]
    timed: Mapping[str, object]


def job_file(
    profile: Profile,
    volumes: Sequence[Volume],
    *,
    how: How = "together",
    stages: Sequence[Stage] = (),
    used_bytes: int | None = None,
    durable: bool = False,
) -> str:
    """Returns a job file with the same sizes, patterns, depths and times, run once in sequence.

    It omits features that fio does not have: it runs steps beyond the ceiling, replaces a search by
    the depths of its doubling phase, and does not remove the file. Its buffers are random, as in
    Dyno, so that they are incompressible.

    Args:
        profile: The profile.
        volumes: The volumes.
        how: Several volumes together, each alone, or one more each time.
        stages: Fill levels; none for test files of the profile's size.
        used_bytes: Bytes to use of existing files and devices; None for all.
        durable: A write completes only when it is on the media.

    Raises:
        UsageError: If the profile reads blocks and writes them back. fio has no such job.
    """
    since = "3.33" if durable else "3.16"
    purpose = [f"# The profile '{profile.name}' as a job file for fio {since} and later."]
    purpose += [
        f"# It writes {_FILE} in {volume.path} and leaves it there: remove it afterwards."
        for volume in volumes
        if volume.kind == "folder"
    ]
    if any(curve.until_ceiling or curve.search for curve in profile.curves):
        purpose.append(
            f"# Steps with a {profile.ceiling_of} (clat) of reads or of writes above "
            f"{profile.ceiling_ms:g} ms do not count."
        )
    if profile.pages != "ordinary":
        most = max(curve.in_flight_bytes() for curve in profile.curves) * len(volumes)
        set_aside = f"sysctl vm.nr_hugepages={most // _HUGE_PAGE + 2}"
        purpose.append(
            f"# Buffers are in huge pages, which have to be set aside before: {set_aside}"
            if profile.pages == "huge"
            else "# Dyno's buffers are in huge pages where it gets any. For the same, set some "
            f"aside\n# ({set_aside}) and add iomem=mmaphuge to [global]."
        )
    head = {
        "direct": 1,
        "ioengine": "io_uring",
        "fixedbufs": 1,
        "registerfiles": 1,
        "norandommap": 1,
        "random_generator": "tausworthe64",
        "refill_buffers": 1,
        "group_reporting": 1,
        "percentile_list": "50:95:99:99.9",
        **({"iomem": "mmaphuge"} if profile.pages == "huge" else {}),
        **({"sync": "dsync"} if durable else {}),
    }
    timed = {
        "time_based": None,
        "ramp_time": f"{round(profile.warmup_s * 1000)}ms",
        "runtime": f"{round(profile.step_s * 1000)}ms",
    }
    sections = [_section("global", head)]
    for stage in stages or (None,):
        level = "" if stage is None else f"fill{stage.percent:g}-"
        made = {} if stage is None else stage.bytes
        sizes = {
            volume.name: made.get(volume.name, profile.file_bytes)
            if volume.kind == "folder"
            else _bytes(volume, used_bytes)
            for volume in volumes
        }
        known = {name: size for name, size in sizes.items() if size is not None}
        sections += _prepare(level, volumes, known)
        turns = volume_sets(volumes, how)
        for volume_set in turns:
            start = level + f"{volume_set.label}-" * (len(turns) > 1)
            turn = _Turn(start, volume_set.volumes, known, timed)
            for curve in profile.curves:
                sections += _curve(curve, turn)
    return "\n\n".join(["\n".join(purpose), *sections]) + "\n"


def _bytes(volume: Volume, used: int | None) -> int | None:
    """Returns the bytes used of a file or device; None if it cannot be opened."""
    if used is not None:
        return used
    try:
        with volume.path.open("rb") as file:
            return file.seek(0, 2)
    except OSError:
        return None


def _prepare(level: str, volumes: Sequence[Volume], sizes: Mapping[str, int]) -> Iterable[str]:
    made = [volume for volume in volumes if volume.kind == "folder"]
    wall: dict[str, object] = {"stonewall": None} if level else {}
    for volume in made:
        name = f"{level}prepare" + f"-{volume.name}" * (len(made) > 1)
        fill = {"rw": "write", "bs": "1m", "iodepth": 32, "end_fsync": 1}
        yield _section(name, {**wall, **_place(volume, sizes), **fill})
        wall = {}


def _curve(curve: Curve, turn: _Turn) -> Iterable[str]:
    for level in range(curve.steps if curve.search is None else 1):
        for scale in _doublings(curve):
            wall: dict[str, object] = {"stonewall": None}
            for job in curve.jobs:
                on = [one for one in turn.volumes if not job.volumes or one.name in job.volumes]
                for volume in on:
                    several = len(curve.jobs) > 1
                    name = turn.start + curve.name + f"-{level + 1}-{job.name}" * several
                    name += "" if len(turn.volumes) == 1 else f"-{volume.name}"
                    options = _options(job, level, scale, len(on))
                    place = {**_place(volume, turn.sizes), **_parts(job, volume, turn.sizes)}
                    settings = {**wall, **place, **options, **turn.timed}
                    yield _section(f"{name}-{_load(job, level, scale)}", settings)
                    wall = {}


def _doublings(curve: Curve) -> Iterable[int]:
    """Yields the multiples of the first load that a search tries."""
    if curve.search is None:
        return [1]
    load = max(curve.jobs[0].rates or curve.jobs[0].depths)
    return [2**step for step in range(32) if load * 2**step <= curve.search.most]


def _load(job: Job, level: int, scale: int) -> str:
    if job.rates:
        return f"rate{_at(job.rates, level) * scale:g}"
    return f"qd{_at(job.depths, level) * scale}"


def _options(job: Job, level: int, scale: int, volumes: int) -> dict[str, object]:
    if job.modify:
        raise UsageError("fio has no job that reads blocks and writes them back (modify).")
    order = "" if job.pattern == "sequential" else "rand"
    what = {100: "read", 0: "write"}.get(job.read_percent, "rw")
    options: dict[str, object] = {"rw": f"{order}{what}"}
    if what == "rw":
        options["rwmixread"] = job.read_percent
    if len(job.blocks) == 1:
        options["bs"] = job.block_bytes
    else:
        parts = (f"{block.bytes}/{round(block.percent)}" for block in job.blocks)
        options["bssplit"] = ":".join(parts)
    if job.align is not None:
        options["blockalign"] = job.align
    if job.pattern == "zipf":
        options["random_distribution"] = f"zipf:{job.theta:g}"
    elif job.pattern == "hot_spot":
        accesses, space = job.hot
        hot = f"{accesses:g}/{space:g}:{100 - accesses:g}/{100 - space:g}"
        options["random_distribution"] = f"zoned:{hot}"
    if job.sync is not None:
        options[job.sync.call] = job.sync.every
    depth = _at(job.depths, level) * (1 if job.rates else scale)
    if job.streams > 1:
        options["numjobs"] = job.streams
        depth = max(1, depth // job.streams)
    options["iodepth"] = depth
    if job.rates:
        rate = _at(job.rates, level) * scale / volumes / job.streams
        options["rate_iops"] = _rates(rate, job.read_percent)
        options |= {"rate_process": "poisson"} if job.arrivals == "poisson" else {}
    return options


def _rates(rate: float, read_percent: int) -> str:
    """Formats reads and writes per second. fio applies a single number to each of them.

    Raises:
        UsageError: If a rate is far from an integer. fio accepts only integers.
    """
    due = [rate * percent / 100 for percent in (read_percent, 100 - read_percent)]
    for one in due:
        if one and abs(round(one) / one - 1) > _ROUNDED_MOST:
            raise UsageError(
                f"fio takes whole numbers of I/Os a second for each job, and a job here has "
                f"{one:.3g} reads or writes. Use a higher --rate."
            )
    return ",".join(str(round(one)) if one else "" for one in due)


def _at(levels: Sequence[int] | Sequence[float], level: int) -> int | float:
    return levels[min(level, len(levels) - 1)]


def _place(volume: Volume, sizes: Mapping[str, int]) -> dict[str, object]:
    if volume.kind == "folder":
        return {"filename": _escaped(volume.path / _FILE), "size": sizes[volume.name]}
    used = {"size": sizes[volume.name]} if volume.name in sizes else {}
    return {"filename": _escaped(volume.path), **used}


def _parts(job: Job, volume: Volume, sizes: Mapping[str, int]) -> dict[str, object]:
    """Returns its area and the part of each stream, in bytes: fio accepts only whole percents.

    Raises:
        UsageError: If the size of the volume is unknown.
    """
    if job.area == (0.0, 100.0) and job.streams == 1:
        return {}
    if volume.name not in sizes:
        raise UsageError(
            f"How large {volume.path} is must be known for '{job.name}', and it may not be opened. "
            "Use --size, or run as a user who may read it."
        )
    start, end = (int(sizes[volume.name] * at / 100) // PAGE * PAGE for at in job.area)
    part = (end - start) // job.streams // PAGE * PAGE
    several = {"offset_increment": part} if job.streams > 1 else {}
    return {"offset": start, "size": part, **several}


def _section(name: str, options: Mapping[str, object]) -> str:
    lines = [key if value is None else f"{key}={value}" for key, value in options.items()]
    return "\n".join([f"[{name}]", *lines])


def _escaped(path: Path) -> str:
    """Escapes colons, which separate file names in fio."""
    return str(path).replace(":", r"\:")
