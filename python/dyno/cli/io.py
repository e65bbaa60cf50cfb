"""``dyno io``: measures storage."""

from __future__ import annotations

from typing import Any

import click

from dyno.cli import _io, _limits, _live
from dyno.cli._options import Options, chosen, common, examples
from dyno.cli._work import conduct
from dyno.errors import UsageError
from dyno.plans.storage import StoragePlan


def _list(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Prints all profiles and their purpose."""
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
        "dyno io /data --profile oltp           most IOPS within 20 ms, 16 mixes",
        "dyno io /data --profile dss --dry-run  steps and duration",
        "dyno io /data --fill 40,62,85          at three fill levels",
        "dyno io raid10=/mnt/a raid6=/mnt/b --compare --repeat 5",
        "dyno io /mnt/a /mnt/b /mnt/c --scaling",
        "dyno io data=/mnt/a log=/mnt/b --profile mine.toml",
        "dyno io /data --rate 5000,10000        open loop: latency at a given load",
        "dyno io /data --limit read_iops=2000   with an IOPS limit",
        "dyno io /dev/sdb --reads-only          a device, without writes",
        "dyno io /dev/sdb --destroy --profile steady",
        "dyno io /data --profile oltp --fio > oltp.fio",
        "dyno io /data --json | jq .io",
    ),
)
@click.argument("volumes", metavar="[NAME=]VOLUME…", nargs=-1, required=True)
@_io.options
@_limits.own_options
@click.option(
    "--profiles", is_flag=True, is_eager=True, expose_value=False, callback=_list,
    help="List the profiles.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Show what would be done, and exit.")
@click.option("--fio", is_flag=True, help="Print the test as a fio job file, and exit.")
@_live.option
@common
def command(options: Options, dry_run: bool, fio: bool, **given: Any) -> int:
    """Profile storage, before you put a database on it.

    In a folder, Dyno creates a test file with random data and removes it afterwards. Files and
    block devices are only read, unless --destroy allows overwriting. The profile measures
    sequential and random reads, writes and mixes at rising load. OLTP curves end when read or write
    latency exceeds the ceiling. All I/O uses O_DIRECT and bypasses the page cache.
    """
    from dyno.runner.storage import io_plan, job

    asked = chosen(StoragePlan, options, given)
    plan = io_plan(asked)
    if fio and dry_run:
        raise UsageError("--fio and --dry-run cannot be combined.")
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
    work = job(asked, plan)
    if dry_run:
        _io.print_plan(plan)
        return 0
    _io.confirm(plan)
    return conduct(work, options)
