"""``dyno io``: what a volume gives."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dyno.cli._options import Options, common, examples, parse_bytes, parse_seconds
from dyno.errors import UsageError

if TYPE_CHECKING:
    from dyno.profiles.model import Profile


def _list(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """All profiles and what each is for."""
    import textwrap

    from dyno import profiles
    from dyno.profiles import spec
    from dyno.units import seconds_text

    if not wanted or context.resilient_parsing:
        return
    for name in profiles.names():
        found = spec.read(name)
        length = f"{found.steps} steps, at most {seconds_text(found.longest_s)}."
        lines = textwrap.wrap(f"{profiles.purpose(name)} {length}", 70)
        for place, line in enumerate(lines):
            click.echo(f"{name if place == 0 else '':9}{line}")
    context.exit()


@click.command(
    "io",
    short_help="Measure the storage under a folder.",
    epilog=examples(
        "dyno io /var/lib/postgresql            about a minute, 4 GiB test file",
        "dyno io /data --profile oltp           most IOPS inside 20 ms, 16 mixes",
        "dyno io /data --profile dss --dry-run  what it would do, and how long",
        "dyno io /data --profile oltp --fio > oltp.fio",
        "dyno io . --size 512M --step 500ms     a quick look",
        "dyno io /data --json | jq .io",
    ),
)
@click.argument("volume", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--profile",
    "which",
    default="quick",
    show_default=True,
    metavar="NAME|FILE",
    help="What to measure: a profile's name, or a TOML file.",
)
@click.option(
    "--profiles", is_flag=True, is_eager=True, expose_value=False, callback=_list,
    help="List the profiles.",
)  # fmt: skip
@click.option("--size", help="Size of the test file instead of the profile's, such as 512M.")
@click.option("--step", help="Time measured at each depth instead of the profile's, such as 5s.")
@click.option(
    "--ceiling",
    type=float,
    metavar="MS",
    help="Latency ceiling on p95 instead of the profile's, milliseconds.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option(
    "--fio", is_flag=True, help="Print the same test as a job file for fio, and do nothing."
)
@common
def command(
    volume: Path,
    which: str,
    size: str | None,
    step: str | None,
    ceiling: float | None,
    dry_run: bool,
    fio: bool,
    options: Options,
) -> int:
    """Profile the volume under the folder VOLUME with a test file that is removed afterwards.

    Curves of sequential and random reads, writes and mixes at rising queue depth; those of
    transactions end where the 95th percentile of reads or of writes passes the ceiling. All with
    O_DIRECT, past the page cache.
    """
    from dyno.cli import _stages as stages
    from dyno.cli._options import positive
    from dyno.cli._session import run_session
    from dyno.profile import IoPlan
    from dyno.profiles import spec

    asked = spec.read(which)
    asked = asked.fitted(
        None if size is None else parse_bytes(size),
        None if step is None else parse_seconds(step),
        None if ceiling is None else positive(ceiling, "--ceiling"),
    )
    plan = IoPlan(volume.absolute(), asked)
    if fio and dry_run:
        raise UsageError("--fio and --dry-run exclude each other: both only print.")
    if fio:
        from dyno.profiles.fio import job_file

        click.echo(job_file(plan.profile, plan.volume), nl=False)
        return 0
    if dry_run:
        _tell(plan.volume, plan.profile)
        return 0
    record = {"volume": str(plan.volume), **plan.profile.model_dump(mode="json")}
    return run_session(
        options,
        "io",
        record,
        (),
        plan.volume,
        lambda session: stages.storage(session, plan),
    )


def _tell(volume: Path, profile: Profile) -> None:
    import shutil

    from dyno.units import bytes_text, seconds_text

    free = shutil.disk_usage(volume).free
    click.echo(
        f"Would write a test file of {bytes_text(profile.file_bytes)} in {volume} "
        f"({bytes_text(free)} free), and remove it in the end.\n"
        f"{profile.steps} steps of {seconds_text(profile.step_s)}, each after "
        f"{seconds_text(profile.warmup_s)} that do not count: at most "
        f"{seconds_text(profile.longest_s)}."
    )
    for curve in profile.curves:
        until = f" until p95 passes {profile.ceiling_ms:g} ms" * curve.until_ceiling
        depths = ", ".join(map(str, curve.depths))
        click.echo(f"  {curve.name:24}depth {depths}{until}")
