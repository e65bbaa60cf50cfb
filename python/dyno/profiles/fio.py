"""A profile as a job file for fio, so that anybody can repeat the test with another tool."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dyno.profiles.model import Curve, Profile

_FILE = "dyno-fio.dat"


def job_file(profile: Profile, volume: Path) -> str:
    """The same file size, patterns, depths and times, one step after the other.

    What fio cannot do stays out: it does not leave out the steps beyond the ceiling, and the file
    is not removed. Its buffers are random, as Dyno's are, so that nothing can compress them.
    """
    purpose = [
        f"# The profile '{profile.name}' as a job file for fio 3.16 and later.",
        f"# It writes {_FILE} in {volume} and leaves it there: remove it afterwards.",
    ]
    ceiling = f"{profile.ceiling_ms:g} ms"
    if any(curve.until_ceiling for curve in profile.curves):
        purpose.append(
            f"# Steps with a p95 (clat) of reads or of writes above {ceiling} do not count."
        )
    head = {
        "filename": _escaped(volume / _FILE),
        "size": profile.file_bytes,
        "direct": 1,
        "ioengine": "io_uring",
        "fixedbufs": 1,
        "registerfiles": 1,
        "norandommap": 1,
        "random_generator": "tausworthe64",
        "refill_buffers": 1,
        "group_reporting": 1,
        "percentile_list": "50:95:99:99.9",
    }
    fill = {"rw": "write", "bs": "1m", "iodepth": 32, "end_fsync": 1}
    sections = [_section("global", head), _section("prepare", fill)]
    for curve in profile.curves:
        sections += [_step(profile, curve, depth) for depth in curve.depths]
    return "\n\n".join(["\n".join(purpose), *sections]) + "\n"


def _step(profile: Profile, curve: Curve, depth: int) -> str:
    order = {"random": "rand", "sequential": ""}[curve.pattern]
    what = {100: "read", 0: "write"}.get(curve.read_percent, "rw")
    options: dict[str, object] = {"stonewall": None, "rw": f"{order}{what}"}
    if what == "rw":
        options["rwmixread"] = curve.read_percent
    options |= {
        "bs": curve.block_bytes,
        "iodepth": depth,
        "time_based": None,
        "ramp_time": f"{round(profile.warmup_s * 1000)}ms",
        "runtime": f"{round(profile.step_s * 1000)}ms",
    }
    return _section(f"{curve.name}-qd{depth}", options)


def _section(name: str, options: Mapping[str, object]) -> str:
    lines = [key if value is None else f"{key}={value}" for key, value in options.items()]
    return "\n".join([f"[{name}]", *lines])


def _escaped(path: Path) -> str:
    """A colon parts file names for fio."""
    return str(path).replace(":", r"\:")
