"""What ``dyno io`` is asked for, read into a plan."""

from __future__ import annotations

import math
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from dyno.cli._options import collected, parse_bytes, parse_seconds
from dyno.cli._strictly import SIZE, TIME
from dyno.errors import UsageError

if TYPE_CHECKING:
    from dyno.profiles.fill import Stage
    from dyno.profiles.model import CeilingOf, Pages, Profile
    from dyno.profiles.volume import How, Volume
    from dyno.stages.profile import IoPlan, OnError


@dataclass(frozen=True)
class Asked:
    """What the command line holds of a profile, unread."""

    which: str
    size: str | None
    step: str | None
    ceiling: float | None
    ceiling_of: str | None
    depths: str | None
    rate: str | None
    reads_only: bool
    how: tuple[str, ...]
    repeat: int
    fill: str | None
    fill_of: str | None
    fsync: bool
    pages: str | None
    destroy: bool
    on_error: str

    def plan(self, texts: tuple[str, ...]) -> IoPlan:
        """The plan for the volumes that ``[NAME=]PATH`` name; it touches nothing.

        Raises:
            UsageError: If it makes no sense.
            TargetError: If a volume cannot be looked at.
            DiskFullError: If the test files do not fit.
        """
        from dyno.profiles import volume
        from dyno.stages.profile import IoPlan

        volumes = volume.parse(texts)
        ways = list(dict.fromkeys(self.how))
        if len(ways) > 1:
            raise UsageError(f"--{ways[0]} and --{ways[1]} exclude each other.")
        if ways and len(volumes) == 1:
            raise UsageError(f"--{ways[0]} is for several volumes; one is given.")
        if self.fill is None and self.fill_of is not None:
            raise UsageError("--fill-of is for --fill: of what the levels are percent.")
        if self.fill is not None and self.size is not None:
            raise UsageError("--fill sets the size of the test file; leave out --size.")
        there = [one for one in volumes if one.kind != "folder"]
        if self.destroy and not there:
            raise UsageError("--destroy is for files and block devices; folders get a test file.")
        profile = self._profile()
        used = None if self.size is None else self._within(there, profile.file_bytes)
        plan = IoPlan(
            volumes,
            profile,
            how=cast("How", next(iter(ways), "together")),
            stages=() if self.fill is None else self._stages(volumes),
            used_bytes=used,
            destroy=frozenset(one.name for one in there) if self.destroy else frozenset(),
            durable=self.fsync,
            on_error=cast("OnError", self.on_error),
            repeats=self.repeat,
        )
        if plan.stages and plan.stages[0].bytes[volumes[0].name] < profile.largest_block:
            raise UsageError("--fill: the lowest level does not hold the largest block.")
        self._long_enough(there, profile)
        plan.check()
        return plan

    def _profile(self) -> Profile:
        from dyno.profiles import spec

        found = spec.read(self.which).fitted(
            None if self.size is None else parse_bytes(self.size),
            None if self.step is None else parse_seconds(self.step),
            self.ceiling,
            cast("CeilingOf | None", self.ceiling_of),
            cast("Pages | None", self.pages),
        )
        depths = _numbers(self.depths, "--depths")
        if any(depth != int(depth) or not 1 <= depth <= 4096 for depth in depths):
            raise UsageError(f"--depths {self.depths}: use whole numbers, 1 to 4096.")
        rates = _numbers(self.rate, "--rate")
        if any(not 0.001 <= rate <= 1e7 for rate in rates):
            raise UsageError(f"--rate {self.rate}: use 0.001 to 10000000 a second.")
        found = found.loaded(tuple(int(depth) for depth in depths), rates)
        if not self.reads_only:
            return found
        curves = tuple(curve for curve in found.curves if not curve.writes)
        if not curves:
            raise UsageError(f"All curves of the profile '{found.name}' write.")
        return found.model_copy(update={"curves": curves})

    def _stages(self, volumes: tuple[Volume, ...]) -> tuple[Stage, ...]:
        from dyno.profiles import fill

        size = None if self.fill_of is None else parse_bytes(self.fill_of)
        return fill.stages(volumes, _numbers(self.fill, "--fill"), size)

    @staticmethod
    def _long_enough(there: list[Volume], profile: Profile) -> None:
        """Fails if a file or device does not hold the largest block of a profile."""
        from dyno.config.units import bytes_text

        for volume in there:
            has = _size(volume.path)
            if has is not None and has < profile.largest_block:
                raise UsageError(
                    f"{volume.path} has {has:,} bytes, less than the largest block of the profile "
                    f"'{profile.name}' ({bytes_text(profile.largest_block)}). Name a larger file, "
                    "or a folder, where a test file is made."
                )

    @staticmethod
    def _within(there: list[Volume], wanted: int) -> int:
        """The size asked for, if every file and device has it."""
        for volume in there:
            has = _size(volume.path)
            if has is not None and wanted > has:
                raise UsageError(
                    f"--size {wanted:,}: {volume.path} has {has:,} bytes. Give a smaller --size, "
                    "or leave it out to use all."
                )
        return wanted


options = collected(
    Asked,
    "asked",
    click.option(
        "--profile",
        "which",
        default="quick",
        show_default=True,
        metavar="NAME|FILE",
        help="What to measure: a profile's name, or a TOML file.",
    ),
    click.option(
        "--size", type=SIZE, help="Size of the test file instead of the profile's: 512M, 100G."
    ),
    click.option(
        "--step", type=TIME, help="Time measured at each load instead of the profile's: 5s."
    ),
    click.option(
        "--ceiling",
        type=click.FloatRange(0, 3_600_000, min_open=True),
        metavar="MS",
        help="Latency ceiling instead of the profile's, milliseconds.",
    ),
    click.option(
        "--ceiling-of",
        type=click.Choice(["p95", "mean", "p99"]),
        help="The figure that the ceiling is for, instead of the profile's.",
    ),
    click.option(
        "--depths", metavar="N,N,…", help="I/Os in flight on each volume instead of the profile's."
    ),
    click.option(
        "--rate", metavar="N,N,…", help="Open loop: I/Os due a second, however long they take."
    ),
    click.option("--reads-only", is_flag=True, help="Leave out what writes."),
    *(
        click.option(f"--{way}", "how", flag_value=way, multiple=True, help=text)
        for way, text in (
            ("together", "Several volumes at once (the default)."),
            ("compare", "Several volumes, each alone, in turn."),
            ("scaling", "The first volume, the first two, … all."),
        )
    ),
    click.option(
        "--repeat",
        type=click.IntRange(1, 1000),
        default=1,
        show_default=True,
        help="Measure all so often, forth and back in turn; gives intervals.",
    ),
    click.option(
        "--fill",
        metavar="%,%,…",
        help="Fill the volume to these levels, such as 40,62,85, and measure at each.",
    ),
    click.option(
        "--fill-of", type=SIZE, metavar="SIZE", help="--fill is percent of this, not of the volume."
    ),
    click.option("--fsync", is_flag=True, help="Every write counts once it is on the media."),
    click.option(
        "--pages",
        type=click.Choice(["auto", "huge", "ordinary"]),
        help="Pages of memory that buffers are in; auto (the usual): huge ones where granted.",
    ),
    click.option(
        "--destroy",
        is_flag=True,
        help="The content of files and devices may be lost; asks for their names, also with --yes.",
    ),
    click.option(
        "--on-error",
        type=click.Choice(["stop", "continue"]),
        default="stop",
        show_default=True,
        help="What many failed I/Os do; they are counted either way.",
    ),
)


def confirm(plan: IoPlan) -> None:
    """Has the user type the name of all that is going to be overwritten.

    Raises:
        UsageError: If another name, or none, was typed.
    """
    for volume in plan.volumes:
        if volume.name not in plan.destroy:
            continue
        has = _size(volume.path)
        size = "" if has is None else f" ({has:,} bytes)"
        click.echo(f"All data on {volume.path}{size} will be lost.", err=True)
        click.echo(f"Type {volume.path} to go on: ", err=True, nl=False)
        typed = sys.stdin.readline().strip()
        if typed != str(volume.path):
            raise UsageError(f"Not confirmed, so {volume.path} was left as it is.")


def tell(plan: IoPlan) -> None:
    """Says what would be done, and how long it takes."""
    from dyno.config.units import bytes_text, seconds_text
    from dyno.profiles.fill import Room

    asked = plan.profile
    for volume in plan.volumes:
        if volume.kind == "folder":
            size = plan.made_bytes()[volume.name]
            click.echo(
                f"Would write a test file of {bytes_text(size)} in {volume.path}\n"
                f"  ({bytes_text(Room.of(volume.path).free)} free), and remove it in the end."
            )
        else:
            what = "OVERWRITE" if volume.name in plan.destroy else "read"
            click.echo(f"Would {what} the {volume.kind} {volume.path}.")
    for stage in plan.stages:
        sizes = ", ".join(bytes_text(size) for size in stage.bytes.values())
        click.echo(f"  {stage.label} full: {sizes}")
    if len(plan.arms) > 1:
        click.echo(f"In turn: {', '.join(arm.label for arm in plan.arms)}.")
    times = len(plan.arms) * plan.repeats * max(1, len(plan.stages))
    often = "s"[: asked.steps != 1] + (f", {times} times" if times > 1 else "")
    click.echo(
        f"{asked.steps} step{often}, each {seconds_text(asked.step_s)} after "
        f"{seconds_text(asked.warmup_s)} that do not count.\n"
        f"At most {seconds_text(plan.longest_s)}, and the time to write the files."
    )
    if asked.pages != "auto":
        click.echo(f"Buffers are in {asked.pages} pages.")
    limit = f"{asked.ceiling_of} passes {asked.ceiling_ms:g} ms"
    for curve in asked.curves:
        for job in curve.jobs:
            name = curve.name if len(curve.jobs) == 1 else f"{curve.name} {job.name}"
            loads = "depth " + ", ".join(map(str, job.depths))
            if job.rates:
                rates = ", ".join(f"{rate:g}" for rate in job.rates)
                loads = f"rate {rates}/s, depth at most {max(job.depths)}"
            if curve.search is not None:
                loads += f", searched up to {curve.search.most:g} until {limit}"
            elif curve.settle is not None:
                loads += f", at most {curve.settle.most} times until it is steady"
            elif curve.until_ceiling:
                loads += f" until {limit}"
            indent = " " * 26
            click.echo(textwrap.fill(f"  {name:23} {loads}", 80, subsequent_indent=indent))


def _numbers(text: str | None, option: str) -> tuple[float, ...]:
    if text is None:
        return ()
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or any(not math.isfinite(number) or number <= 0 for number in found):
        raise UsageError(f"{option} '{text}': give numbers above 0, with commas between them.")
    return found


def _size(path: Path) -> int | None:
    """Bytes of a file or block device; None if it may not be opened."""
    try:
        with path.open("rb") as file:
            return file.seek(0, 2)
    except OSError:
        return None
