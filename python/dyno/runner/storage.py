"""A profile of volumes as a recorded run."""

from __future__ import annotations

import math
from pathlib import Path

from dyno.config.units import bytes_text, parse_bytes, parse_seconds
from dyno.errors import UsageError
from dyno.plans.storage import StoragePlan
from dyno.profiles import fill, spec, volume
from dyno.profiles.fill import Stage
from dyno.profiles.model import Profile
from dyno.profiles.volume import Volume
from dyno.runner import stages
from dyno.runner.ahead import Part
from dyno.runner.engine import confinement_of_volumes
from dyno.runner.session import Job, Session
from dyno.stages.profile import IoPlan


def job(asked: StoragePlan, plan: IoPlan) -> Job:
    """Turns the plan into a job on the volumes of ``plan``, the result of :func:`io_plan`.

    Raises:
        UsageError: If its limits are invalid.
    """
    confinement = confinement_of_volumes(asked, [one.path for one in plan.volumes])
    first = plan.volumes[0]
    place = first.path.parent if first.kind == "file" else first.path

    def body(session: Session) -> None:
        with session.confined():
            stages.storage(session, plan)

    runs = len(plan.volume_sets) * plan.repeats
    parts = [Part(plan.longest_s / runs)] * runs
    return Job(asked, _record(plan), (), place, body, confinement=confinement, parts=parts)


def io_plan(asked: StoragePlan) -> IoPlan:
    """Returns the measurements and their volumes. Changes nothing.

    Raises:
        UsageError: If the plan is invalid.
        TargetError: If a volume cannot be inspected.
        DiskFullError: If the test files do not fit.
    """
    volumes = volume.parse(asked.volumes)
    ways = list(dict.fromkeys(asked.how))
    if len(ways) > 1:
        raise UsageError(f"--{ways[0]} and --{ways[1]} cannot be combined.")
    if ways and len(volumes) == 1:
        raise UsageError(f"--{ways[0]} needs several volumes.")
    if asked.fill is None and asked.fill_of is not None:
        raise UsageError("--fill-of requires --fill.")
    if asked.fill is not None and asked.size is not None:
        raise UsageError("--fill sets the size of the test file; remove --size.")
    there = [one for one in volumes if one.kind != "folder"]
    if asked.destroy and not there:
        raise UsageError("--destroy is for files and block devices; folders get a test file.")
    profile = _profile(asked)
    used = None if asked.size is None else _within(there, profile.file_bytes)
    plan = IoPlan(
        volumes,
        profile,
        how=ways[0] if ways else "together",
        stages=() if asked.fill is None else _stages(asked, volumes),
        used_bytes=used,
        destroy=frozenset(one.name for one in there) if asked.destroy else frozenset(),
        durable=asked.fsync,
        on_error=asked.on_error,
        repeats=asked.repeat,
    )
    if plan.stages and plan.stages[0].bytes[volumes[0].name] < profile.largest_block:
        raise UsageError("--fill: the lowest level is smaller than the largest block.")
    _long_enough(there, profile)
    plan.check()
    return plan


def _record(plan: IoPlan) -> dict[str, object]:
    """Returns the plan as the bundle records it."""
    return {
        "volume": plan.label(plan.volume_sets[-1]),
        "volumes": [volume.model_dump(mode="json") for volume in plan.volumes],
        "how": plan.how,
        "repeats": plan.repeats,
        "stages": [stage.model_dump(mode="json") for stage in plan.stages],
        "fsync": plan.durable,
        "on_error": plan.on_error,
        **plan.profile.model_dump(mode="json"),
    }


def _profile(asked: StoragePlan) -> Profile:
    found = spec.read(asked.profile).fitted(
        None if asked.size is None else parse_bytes(asked.size),
        None if asked.step is None else parse_seconds(asked.step),
        asked.ceiling,
        asked.ceiling_of,
        asked.pages,
    )
    depths = _numbers(asked.depths, "--depths")
    if any(depth != int(depth) or not 1 <= depth <= 4096 for depth in depths):
        raise UsageError(f"--depths {asked.depths}: use integers from 1 to 4096.")
    rates = _numbers(asked.rate, "--rate")
    if any(not 0.001 <= rate <= 1e7 for rate in rates):
        raise UsageError(f"--rate {asked.rate}: use 0.001 to 10000000 per second.")
    found = found.loaded(tuple(int(depth) for depth in depths), rates)
    if not asked.reads_only:
        return found
    curves = tuple(curve for curve in found.curves if not curve.writes)
    if not curves:
        raise UsageError(f"All curves of the profile '{found.name}' write.")
    return found.model_copy(update={"curves": curves})


def _stages(asked: StoragePlan, volumes: tuple[Volume, ...]) -> tuple[Stage, ...]:
    size = None if asked.fill_of is None else parse_bytes(asked.fill_of)
    return fill.stages(volumes, _numbers(asked.fill, "--fill"), size)


def _long_enough(there: list[Volume], profile: Profile) -> None:
    """Fails if a file or device is smaller than the largest block of a profile."""
    for one in there:
        has = size_of(one.path)
        if has is not None and has < profile.largest_block:
            raise UsageError(
                f"{one.path} has {has:,} bytes, less than the largest block of the profile "
                f"'{profile.name}' ({bytes_text(profile.largest_block)}). Use a larger file, "
                "or a folder for a test file."
            )


def _within(there: list[Volume], wanted: int) -> int:
    """Returns the requested size if every file and device is at least that large."""
    for one in there:
        has = size_of(one.path)
        if has is not None and wanted > has:
            raise UsageError(
                f"--size {wanted:,}: {one.path} has {has:,} bytes. Use a smaller --size, "
                "or omit it to use all."
            )
    return wanted


def _numbers(text: str | None, option: str) -> tuple[float, ...]:
    if text is None:
        return ()
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or any(not math.isfinite(number) or number <= 0 for number in found):
        raise UsageError(f"{option} '{text}': use numbers above 0, separated by commas.")
    return found


def size_of(path: Path) -> int | None:
    """Returns the size of a file or block device in bytes; None if it cannot be opened."""
    try:
        with path.open("rb") as file:
            return file.seek(0, 2)
    except OSError:
        return None
