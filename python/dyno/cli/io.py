"""``dyno io``: what storage gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dyno.cli._io import Asked
from dyno.cli._io import options as asked_options
from dyno.cli._limits import Bounds, own_options
from dyno.cli._options import Options, common, examples
from dyno.cli._work import conduct, typed
from dyno.errors import UsageError

if TYPE_CHECKING:
    from dyno.runner.session import Session
    from dyno.stages.profile import IoPlan


def _list(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """All profiles and what each is for."""
    import textwrap

    from dyno import profiles
    from dyno.config.units import seconds_text
    from dyno.profiles import spec

    if not wanted or context.resilient_parsing:
        return
    for name in profiles.names():
        found = spec.read(name)
        length = f"{found.steps} steps, at most {seconds_text(found.longest_s)}."
        lines = textwrap.wrap(f"{profiles.purpose(name)} {length}", 68)
        for place, line in enumerate(lines):
            click.echo(f"{name if place == 0 else '':11}{line}")
    context.exit()


@click.command(
    "io",
    short_help="Measure storage: folders, files, block devices.",
    epilog=examples(
        "dyno io /var/lib/postgresql            about a minute, 4 GiB test file",
        "dyno io /data --profile oltp           most IOPS inside 20 ms, 16 mixes",
        "dyno io /data --profile dss --dry-run  what it would do, and how long",
        "dyno io /data --fill 40,62,85          as the volume fills up",
        "dyno io raid10=/mnt/a raid6=/mnt/b --compare --repeat 5",
        "dyno io /mnt/a /mnt/b /mnt/c --scaling",
        "dyno io data=/mnt/a log=/mnt/b --profile mine.toml",
        "dyno io /data --rate 5000,10000        open loop: latency at a given load",
        "dyno io /data --limit read_iops=2000   as if the device gave no more",
        "dyno io /dev/sdb --reads-only          a device as it is",
        "dyno io /dev/sdb --destroy --profile steady",
        "dyno io /data --profile oltp --fio > oltp.fio",
        "dyno io /data --json | jq .io",
    ),
)
@click.argument("volumes", metavar="[NAME=]VOLUME…", nargs=-1, required=True)
@asked_options
@own_options
@click.option(
    "--profiles", is_flag=True, is_eager=True, expose_value=False, callback=_list,
    help="List the profiles.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option(
    "--fio", is_flag=True, help="Print the same test as a job file for fio, and do nothing."
)
@common
def command(
    volumes: tuple[str, ...],
    asked: Asked,
    bounds: Bounds,
    dry_run: bool,
    fio: bool,
    options: Options,
) -> int:
    """Profile storage, before any database is on it.

    In a folder a test file is made, filled with random data, and removed afterwards. Files and
    block devices are only read, unless --destroy allows to overwrite them. Curves of sequential and
    random reads, writes and mixes at rising load; those of transactions end where the latency of
    reads or of writes passes the ceiling. All with O_DIRECT, past the page cache.
    """
    from dyno.cli._io import confirm, tell
    from dyno.runner.session import Job

    plan = asked.plan(volumes)
    if fio and dry_run:
        raise UsageError("--fio and --dry-run exclude each other: both only print.")
    if fio:
        from dyno.profiles.fio import job_file

        text = job_file(
            plan.profile,
            plan.volumes,
            how=plan.how,
            stages=plan.stages,
            used_bytes=plan.used_bytes,
            durable=plan.durable,
        )
        click.echo(text, nl=False)
        return 0
    confinement = bounds.of_volumes(volume.path for volume in plan.volumes)
    if dry_run:
        tell(plan)
        return 0
    if not options.rehearsed:
        confirm(plan)
    first = plan.volumes[0]
    place = first.path.parent if first.kind == "file" else first.path

    def body(session: Session) -> None:
        with session.confined():
            _body(session, plan)

    job = Job("io", options.out, _record(plan), typed(), (), place, body, confinement=confinement)
    return conduct(job, options)


def _body(session: Session, plan: IoPlan) -> None:
    from dyno.runner import stages

    stages.storage(session, plan)


def _record(plan: IoPlan) -> dict[str, object]:
    """What the bundle keeps of the plan."""
    return {
        "volume": plan.label(plan.arms[-1]),
        "volumes": [volume.model_dump(mode="json") for volume in plan.volumes],
        "how": plan.how,
        "repeats": plan.repeats,
        "stages": [stage.model_dump(mode="json") for stage in plan.stages],
        "fsync": plan.durable,
        "on_error": plan.on_error,
        **plan.profile.model_dump(mode="json"),
    }
