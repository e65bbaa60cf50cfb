"""Options, confirmation and dry run of ``dyno io``."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING

import click

from dyno.cli._options import declared
from dyno.cli._strictly import SIZE, TIME
from dyno.errors import UsageError
from dyno.plans.storage import CEILING_MS, REPEATS

if TYPE_CHECKING:
    from dyno.stages.profile import IoPlan

options = declared(
    click.option(
        "--profile",
        default="quick",
        show_default=True,
        metavar="NAME|FILE",
        help="Name of a profile (see --profiles), or a TOML file.",
    ),
    click.option(
        "--size", type=SIZE, help="Test file size, such as 512M or 100G.  [default: the profile's]"
    ),
    click.option(
        "--step",
        type=TIME,
        help="Measured time per load step, such as 5s.  [default: the profile's]",
    ),
    click.option(
        "--ceiling",
        type=click.FloatRange(*CEILING_MS, min_open=True),
        metavar="MS",
        help="Latency ceiling in ms.  [default: the profile's]",
    ),
    click.option(
        "--ceiling-of",
        type=click.Choice(["p95", "mean", "p99"]),
        help="Statistic that the ceiling limits.  [default: the profile's]",
    ),
    click.option(
        "--depths", metavar="N,N,…", help="Queue depths per volume.  [default: the profile's]"
    ),
    click.option(
        "--rate", metavar="N,N,…", help="Open loop: I/Os per second, submitted on schedule."
    ),
    click.option("--reads-only", is_flag=True, help="Skip all curves that write."),
    *(
        click.option(f"--{way}", "how", flag_value=way, multiple=True, help=text)
        for way, text in (
            ("together", "Measure several volumes at once (default)."),
            ("compare", "Measure several volumes one after the other and compare."),
            ("scaling", "Measure the first volume, the first two, … all."),
        )
    ),
    click.option(
        "--repeat",
        type=click.IntRange(*REPEATS),
        default=1,
        show_default=True,
        help="Repeat N times in alternating order (ABBA); adds confidence intervals.",
    ),
    click.option(
        "--fill",
        metavar="%,%,…",
        help="Fill the volume to these percentages, such as 40,62,85, and measure at each.",
    ),
    click.option(
        "--fill-of",
        type=SIZE,
        metavar="SIZE",
        help="--fill is a percentage of SIZE instead of the volume.",
    ),
    click.option("--fsync", is_flag=True, help="Sync every write (O_DSYNC)."),
    click.option(
        "--pages",
        type=click.Choice(["auto", "huge", "ordinary"]),
        help="Memory pages of the I/O buffers.  [default: auto, huge if available]",
    ),
    click.option(
        "--destroy",
        is_flag=True,
        help="Allow overwriting files and devices; asks for their names even with --yes.",
    ),
    click.option(
        "--on-error",
        type=click.Choice(["stop", "continue"]),
        default="stop",
        show_default=True,
        help="Stop or continue after many failed I/Os.",
    ),
)


def confirm(plan: IoPlan) -> None:
    """Asks the user to type the path of each volume that will be overwritten.

    Raises:
        UsageError: If the answer does not match.
    """
    from dyno.runner.storage import size_of

    for volume in plan.volumes:
        if volume.name not in plan.destroy:
            continue
        has = size_of(volume.path)
        size = "" if has is None else f" ({has:,} bytes)"
        click.echo(f"All data on {volume.path}{size} will be lost.", err=True)
        click.echo(f"Type {volume.path} to continue: ", err=True, nl=False)
        typed = sys.stdin.readline().strip()
        if typed != str(volume.path):
            raise UsageError(f"Not confirmed: {volume.path} was not changed.")


def print_plan(plan: IoPlan) -> None:
    """Prints what would be done, and how long it takes."""
    from dyno.config.units import bytes_text, seconds_text
    from dyno.profiles.fill import Space

    asked = plan.profile
    for volume in plan.volumes:
        if volume.kind == "folder":
            size = plan.made_bytes()[volume.name]
            click.echo(
                f"Would write a test file of {bytes_text(size)} in {volume.path}\n"
                f"  ({bytes_text(Space.of(volume.path).free)} free), and remove it at the end."
            )
        else:
            what = "OVERWRITE" if volume.name in plan.destroy else "read"
            click.echo(f"Would {what} the {volume.kind} {volume.path}.")
    for stage in plan.stages:
        sizes = ", ".join(bytes_text(size) for size in stage.bytes.values())
        click.echo(f"  {stage.label} full: {sizes}")
    if len(plan.volume_sets) > 1:
        click.echo(f"One after the other: {', '.join(each.label for each in plan.volume_sets)}.")
    times = len(plan.volume_sets) * plan.repeats * max(1, len(plan.stages))
    often = "s"[: asked.steps != 1] + (f", {times} times" if times > 1 else "")
    click.echo(
        f"{asked.steps} step{often}: {seconds_text(asked.warmup_s)} warm-up and "
        f"{seconds_text(asked.step_s)} measured, each.\n"
        f"At most {seconds_text(plan.longest_s)}, plus the time to write the files."
    )
    if asked.pages != "auto":
        click.echo(f"I/O buffers use {asked.pages} pages.")
    limit = f"{asked.ceiling_of} exceeds {asked.ceiling_ms:g} ms"
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
                loads += f", at most {curve.settle.most} times until steady"
            elif curve.until_ceiling:
                loads += f" until {limit}"
            indent = " " * 26
            click.echo(textwrap.fill(f"  {name:23} {loads}", 80, subsequent_indent=indent))
