"""``dyno replay``: replays a server's log at its original times."""

from __future__ import annotations

import shutil
import sys
import textwrap
from pathlib import Path
from typing import Any

import click

from dyno.cli import _elsewhere, _live
from dyno.cli._console import cut
from dyno.cli._options import Options, chosen, common, examples, print_outline
from dyno.cli._work import conduct
from dyno.plans.replay import MOST_SESSIONS, SPEEDS, ReplayPlan


@click.command(
    "replay",
    short_help="Replay a server's log at its original times.",
    epilog=examples(
        "dyno replay postgresql.csv --target null: --dry-run",
        "dyno replay postgresql.csv --target postgresql://app@db2/shop",
        "dyno replay postgresql.json --target URL --speed 2 --for 60s",
        "dyno replay postgresql.csv --target URL --reads-only --users 50",
        "dyno replay general.log --target mysql://app@db3/shop --database shop",
    ),
)
@click.argument("log", type=click.Path(path_type=Path))
@click.option(
    "--target", required=True, metavar="URL", help="URL of the database, or embedded:NAME."
)
@click.option(
    "--speed",
    type=click.FloatRange(*SPEEDS),
    default=1.0,
    show_default=True,
    help="How much faster than in the log.",
)
@click.option("--for", "duration", metavar="TIME", help="Length of the replay.  [default: all]")
@click.option(
    "--users",
    type=click.IntRange(1, MOST_SESSIONS),
    metavar="MOST",
    help="Maximum concurrent sessions; the rest are left out.  [default: as in the log]",
)
@click.option("--database", metavar="NAME", help="Only statements of this database of the log.")
@click.option("--reads-only", is_flag=True, help="Skip statements that change or lock rows.")
@click.option("--ddl", is_flag=True, help="Also replay DDL and table maintenance, such as VACUUM.")
@click.option("--dry-run", is_flag=True, help="Show what the log contains; run nothing.")
@_elsewhere.options
@_live.option
@common
def command(options: Options, dry_run: bool, **given: Any) -> int:
    """Replay LOG: a CSV or JSON log of PostgreSQL, or a general log of MariaDB or MySQL.

    Each session of the log gets a connection of its own and runs its statements in order, at their
    original times divided by --speed. Response times start at the intended time, so time spent
    waiting for the previous statement counts. If more than 1 % of the statements are sent more than
    1 s late, the run is invalid.

    The server that writes the log needs log_statement = all or log_min_duration_statement = 0
    (PostgreSQL), or general_log = on (MariaDB). The target needs the data that the statements
    expect.

    Dyno asks before statements change rows (--yes agrees). Statements about users, rights,
    databases, files or the server never run, DDL only with --ddl. What is replayed runs with the
    rights of the user in the URL: --dry-run shows it, and what is left out.
    """
    from dyno.runner.replay import job

    work = job(chosen(ReplayPlan, options, given))
    if dry_run:
        lines = work.outline if options.as_json else map(_shown, work.outline)
        return print_outline(lines, options)
    if work.question and not options.yes and not click.confirm(work.question, err=True):
        click.echo("Nothing run.", err=True)
        return 0
    return conduct(work, options)


def _shown(line: str) -> str:
    """Cuts the statement of an indented line at the width of a terminal; wraps other lines."""
    if not sys.stdout.isatty():
        return line
    columns = shutil.get_terminal_size().columns
    if line.startswith(" "):
        return cut(line, columns)
    return textwrap.fill(line, max(columns, 40), subsequent_indent="  ", break_long_words=False)
