"""A profile as a job file for fio, so that anybody can repeat the test with another tool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from dyno.errors import UsageError
from dyno.profiles.job import Job
from dyno.profiles.model import Curve, Profile
from dyno.profiles.volume import Volume

_FILE = "dyno-fio.dat"
_HUGE_PAGE = 2 << 20


def job_file(profile: Profile, volumes: Sequence[Volume]) -> str:
    """The same file size, patterns, depths and times, one step after the other.

    What fio cannot do stays out: it does not leave out the steps beyond the ceiling, searches
    nothing (a search becomes the depths that it would double through), and the file is not
    removed. Its buffers are random, as Dyno's are, so that nothing can compress them.

    Raises:
        UsageError: If the profile reads blocks and writes them back, which fio has no job for.
    """
    purpose = [f"# The profile '{profile.name}' as a job file for fio 3.16 and later."]
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
    if profile.pages == "huge":
        most = max(curve.in_flight_bytes() for curve in profile.curves) * len(volumes)
        purpose.append(
            "# Its buffers are in huge pages, which have to be set aside before: "
            f"sysctl vm.nr_hugepages={most // _HUGE_PAGE + 2}"
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
    }
    made = [volume for volume in volumes if volume.kind == "folder"]
    sections = [_section("global", head)]
    for volume in made:
        name = "prepare" if len(made) == 1 else f"prepare-{volume.name}"
        fill = {"rw": "write", "bs": "1m", "iodepth": 32, "end_fsync": 1}
        sections.append(_section(name, {**_place(profile, volume), **fill}))
    for curve in profile.curves:
        sections += _curve(profile, curve, volumes)
    return "\n\n".join(["\n".join(purpose), *sections]) + "\n"


def _curve(profile: Profile, curve: Curve, volumes: Sequence[Volume]) -> Iterable[str]:
    for level in range(curve.steps if curve.search is None else 1):
        for scale in _doublings(curve):
            wall: dict[str, object] = {"stonewall": None}
            for job in curve.jobs:
                on = [one for one in volumes if not job.volumes or one.name in job.volumes]
                for volume in on:
                    several = len(curve.jobs) > 1
                    name = curve.name + f"-{level + 1}-{job.name}" * several
                    name += "" if len(volumes) == 1 else f"-{volume.name}"
                    options = _options(job, level, scale, len(on))
                    times = {
                        "time_based": None,
                        "ramp_time": f"{round(profile.warmup_s * 1000)}ms",
                        "runtime": f"{round(profile.step_s * 1000)}ms",
                    }
                    told = {**wall, **_place(profile, volume), **options, **times}
                    yield _section(f"{name}-{_load(job, level, scale)}", told)
                    wall = {}


def _doublings(curve: Curve) -> Iterable[int]:
    """By what the first load is multiplied, step by step, in a search."""
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
    if job.area != (0.0, 100.0):
        start, end = job.area
        options |= {"offset": f"{start:g}%", "size": f"{end - start:g}%"}
    if job.sync is not None:
        options[job.sync.call] = job.sync.every
    depth = _at(job.depths, level) * (1 if job.rates else scale)
    if job.streams > 1:
        share = f"{100 / job.streams:g}%"
        options |= {"numjobs": job.streams, "offset_increment": share}
        depth = max(1, depth // job.streams)
    options["iodepth"] = depth
    if job.rates:
        options["rate_iops"] = max(1, round(_at(job.rates, level) * scale / volumes))
        options |= {"rate_process": "poisson"} if job.arrivals == "poisson" else {}
    return options


def _at(levels: Sequence[int] | Sequence[float], level: int) -> int | float:
    return levels[min(level, len(levels) - 1)]


def _place(profile: Profile, volume: Volume) -> dict[str, object]:
    if volume.kind == "folder":
        return {"filename": _escaped(volume.path / _FILE), "size": profile.file_bytes}
    return {"filename": _escaped(volume.path)}


def _section(name: str, options: Mapping[str, object]) -> str:
    lines = [key if value is None else f"{key}={value}" for key, value in options.items()]
    return "\n".join([f"[{name}]", *lines])


def _escaped(path: Path) -> str:
    """A colon parts file names for fio."""
    return str(path).replace(":", r"\:")
