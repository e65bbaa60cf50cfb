"""What belongs to ``dyno io``: its options, its question before it destroys, its dry run."""

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
        type=click.FloatRange(*CEILING_MS, min_open=True),
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
        type=click.IntRange(*REPEATS),
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
    from dyno.runner.storage import size_of

    for volume in plan.volumes:
        if volume.name not in plan.destroy:
            continue
        has = size_of(volume.path)
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
