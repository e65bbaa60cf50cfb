"""Stage: profiles storage before it holds a database."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from dyno.bundle.phases import io
from dyno.bundle.phases.io import Asked, Found, IoDetail, Remark, Seen
from dyno.bundle.writer import Recorder
from dyno.errors import TargetError, UsageError
from dyno.host.volume import in_use, read_only, volume_facts
from dyno.profiles.fill import Stage, require_space
from dyno.profiles.model import Profile
from dyno.profiles.volume import How, Volume, VolumeSet, volume_sets
from dyno.runtime.engine_calls import run_engine
from dyno.runtime.progress import Progress
from dyno.runtime.seeds import derived
from dyno.safety.unwritable import stores_no_files

OnError = Literal["stop", "continue"]

_INTERVALS = 50
"""Number of intervals in a step, enough to judge steady state. An interval lasts 0.1 s to 1 s."""
_KINDS = {"folder": "made", "file": "file", "device": "device"}


@dataclass(frozen=True)
class IoPlan:
    """Measurements and their volumes.

    Attributes:
        how: Several volumes together, each alone, or one more each time.
        stages: Fill levels; none for test files of the profile's size.
        used_bytes: Bytes to use of existing files and devices; None for all.
        destroy: Names of files and devices that may be overwritten.
        durable: A write completes only when it is on the media.
        repeats: Number of measurements of each volume set.
    """

    volumes: tuple[Volume, ...]
    profile: Profile
    how: How = "together"
    stages: tuple[Stage, ...] = ()
    used_bytes: int | None = None
    destroy: frozenset[str] = frozenset()
    durable: bool = False
    on_error: OnError = "stop"
    repeats: int = 1

    @property
    def volume_sets(self) -> tuple[VolumeSet, ...]:
        """The sets of volumes to measure together, in order."""
        return volume_sets(self.volumes, self.how)

    @property
    def longest_s(self) -> float:
        """Seconds of all steps of all sets, if no step is skipped; excludes the time to fill."""
        return (
            self.profile.longest_s * len(self.volume_sets) * self.repeats * max(1, len(self.stages))
        )

    def check(self) -> None:
        """Validates the plan. Changes nothing.

        Raises:
            UsageError: If it would overwrite protected data, or names an unknown volume.
            TargetError: If a file or device is in use.
            DiskFullError: If the test files do not fit.
        """
        for volume in self.volumes:
            used = in_use(volume.path)
            if used is not None:
                raise TargetError(
                    f"{used}: other users would affect the results. Free it, or use "
                    "a folder on it.",
                    kind="io",
                )
            if volume.kind == "folder" and stores_no_files(volume.path):
                raise TargetError(
                    f"{volume.path} is a pseudo file system. Use a folder on a disk.",
                    kind="io",
                )
            if volume.kind == "folder" and os.statvfs(volume.path).f_flag & os.ST_RDONLY:
                raise TargetError(
                    f"{volume.path} is mounted read-only. Mount "
                    "it to be written, or name a file on it with --reads-only.",
                    kind="io",
                )
            if volume.name in self.destroy and read_only(volume.path):
                raise TargetError(
                    f"{volume.path} is read-only (blockdev --setrw makes it writable). Use "
                    "--reads-only without --destroy.",
                    kind="io",
                )
            if volume.kind != "folder" and self.profile.writes and volume.name not in self.destroy:
                raise UsageError(
                    f"The profile '{self.profile.name}' writes, and would overwrite {volume.path}. "
                    "Use --reads-only, or --destroy if its content may be lost."
                )
        names = {volume.name for volume in self.volumes}
        for curve in self.profile.curves:
            for job in curve.jobs:
                unknown = [name for name in job.volumes if name not in names]
                if unknown:
                    raise UsageError(
                        f"The profile's job '{job.name}' needs a volume named '{unknown[0]}'; "
                        f"name it: {unknown[0]}=PATH."
                    )
                if job.volumes and self.how != "together" and len(self.volumes) > 1:
                    raise UsageError(
                        f"The profile's job '{job.name}' is for volumes by name, so they are "
                        "measured together: leave out --compare and --scaling."
                    )
        for volume_set in self.volume_sets:
            require_space(volume_set.volumes, self.made_bytes())

    def made_bytes(self) -> dict[str, int]:
        """Maximum size of the test file of each volume, by name."""
        if self.stages:
            return self.stages[-1].bytes
        folders = [volume for volume in self.volumes if volume.kind == "folder"]
        return {volume.name: self.profile.file_bytes for volume in folders}

    def name(self, volume_set: VolumeSet, repeat: int) -> str:
        """Returns the phase name of a volume set."""
        name = f"io-{volume_set.label}" if len(self.volume_sets) > 1 else "io"
        return f"{name}-{repeat}" if self.repeats > 1 else name

    def title(self, volume_set: VolumeSet, repeat: int) -> str:
        """Returns the phase title of a volume set."""
        title = "Storage profile" + f" of {volume_set.label}" * (len(self.volume_sets) > 1)
        return title + f", {repeat} of {self.repeats}" * (self.repeats > 1)

    def label(self, volume_set: VolumeSet) -> str:
        """Returns the label in results: the names of the volumes; the path of a single volume."""
        return str(self.volumes[0].path) if len(self.volumes) == 1 else volume_set.label


def profile(
    recorder: Recorder, plan: IoPlan, volume_set: VolumeSet, repeat: int, progress: Progress
) -> IoDetail:
    """Profiles one volume set once and records one row per step when the step ends.

    Returns:
        The phase detail, with the findings of the engine.

    Raises:
        UsageError: If the engine rejects the plan.
        DiskFullError: If a test file does not fit.
        TargetError: If a volume cannot be used.
    """
    plan.check()
    asked = plan.profile
    # Each measurement reads other places and writes other data: caches and deduplication would
    # answer those that they know from an earlier run or another volume.
    place = repeat * len(plan.volume_sets) + plan.volume_sets.index(volume_set)
    make_detail = _detail(plan, volume_set, repeat)
    with recorder.phase(
        plan.name(volume_set, repeat), plan.title(volume_set, repeat), make_detail()
    ) as phase:
        outcome = run_engine(
            "profile",
            {
                "volume": plan.label(volume_set),
                "targets": [_target(plan, volume) for volume in volume_set.volumes],
                "file_id": recorder.run.run,
                "ceiling_ms": asked.ceiling_ms,
                "ceiling_of": asked.ceiling_of,
                "durable": plan.durable,
                "pages": asked.pages,
                "on_error": plan.on_error,
                "repeat": repeat,
                "seed": derived(0, "io", place, recorder.run.run),
                "clock": recorder.clock.model_dump(),
                "spool": str(recorder.spool("io")),
                "parts": str(recorder.spool("io_parts")),
                "intervals": str(recorder.spool("io_intervals")),
                "interval_seconds": min(1.0, max(0.1, asked.step_s / _INTERVALS)),
                "steps": asked.requests(),
            },
            progress,
        )
        phase.detail = make_detail(
            engine=outcome["engine"],
            direct=outcome["direct"],
            notes=tuple(Remark.model_validate(note) for note in outcome["notes"]),
            searches={
                curve: {str(stage): Found.model_validate(found) for stage, found in stages.items()}
                for curve, stages in outcome["searches"].items()
            },
            settled=outcome["settled"],
            subjects=tuple(Seen.model_validate(seen) for seen in outcome["targets"]),
            huge_percent=_range(step["huge_percent"] for step in outcome["steps"]),
        )
        return phase.detail


def _detail(plan: IoPlan, volume_set: VolumeSet, repeat: int) -> partial[IoDetail]:
    asked = plan.profile
    return partial(
        IoDetail,
        volume=plan.label(volume_set),
        arm=plan.volume_sets.index(volume_set),
        arms=tuple(plan.label(each) for each in plan.volume_sets),
        how="single" if len(plan.volumes) == 1 else plan.how,
        repeat=repeat,
        repeats=plan.repeats,
        profile=asked.name,
        file_bytes=asked.file_bytes,
        ceiling_ms=asked.ceiling_ms,
        ceiling_of=asked.ceiling_of,
        figures={curve.name: curve.metric for curve in asked.curves},
        fsync=plan.durable,
        pages=asked.pages,
        on_error=plan.on_error,
        targets=tuple(
            Asked(
                name=volume.name,
                path=str(volume.path),
                kind=_KINDS[volume.kind],
                bytes=plan.made_bytes().get(volume.name, plan.used_bytes),
                facts=volume_facts(volume.path),
            )
            for volume in volume_set.volumes
        ),
        stages=tuple(
            io.Stage(label=stage.label, percent=stage.percent, bytes=dict(stage.bytes))
            for stage in plan.stages
        ),
    )


def _range(values: Iterable[float | None]) -> tuple[float, float] | None:
    """Returns the minimum and maximum; None without values."""
    known = [value for value in values if value is not None]
    return (min(known), max(known)) if known else None


def _target(plan: IoPlan, volume: Volume) -> dict[str, Any]:
    named = {} if len(plan.volumes) == 1 and not _by_name(plan) else {"name": volume.name}
    if volume.kind == "folder":
        if plan.stages:
            sizes = {"stages": [stage.bytes[volume.name] for stage in plan.stages]}
        else:
            sizes = {"bytes": plan.profile.file_bytes}
        return {**named, "directory": str(volume.path), **sizes}
    used = {} if plan.used_bytes is None else {"bytes": plan.used_bytes}
    destroy = volume.name in plan.destroy
    return {**named, "path": str(volume.path), **used, "destroy": destroy, "fill": destroy}


def _by_name(plan: IoPlan) -> bool:
    return any(job.volumes for curve in plan.profile.curves for job in curve.jobs)
