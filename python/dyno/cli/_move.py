"""``dyno accelerate move``: parts of a server onto flash by its own means, and back."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from dyno.cli._attach import HEAD, confirmed
from dyno.cli._options import Options, common, examples
from dyno.safety import plainjson
from dyno.safety.text import plain

if TYPE_CHECKING:
    from dyno.contracts.flash import Move, Part


@click.command(
    "move",
    short_help="Move temporary files, a database or the log onto flash, or back.",
    epilog=examples(
        "dyno accelerate move temp postgresql://dba@db1/shop --flash /flash",
        "dyno accelerate move temp postgresql://dba@db1/shop --back --yes",
        "dyno accelerate move database postgresql://dba@db1/shop --flash /flash",
        "dyno accelerate move log postgresql:///shop --flash /flash",
        "dyno accelerate move log mysql://root@localhost/ --flash /flash --check",
        "dyno accelerate move temp mssql://dba@db1/shop --flash /flash",
    ),
)
@click.argument("what", type=click.Choice(["temp", "database", "log"]))
@click.argument("url")
@click.option(
    "--flash", "folder", metavar="FOLDER", default="",
    help="A folder on the flash device, on the server's machine. Dyno uses a folder in it.",
)  # fmt: skip
@click.option("--back", is_flag=True, help="Move it back to where it was.")
@click.option(
    "--check", is_flag=True,
    help="Only show where it is. Exit code 1 if that is not the place asked for.",
)  # fmt: skip
@click.option("--database", default="", help="The database to move.  [default: that of the URL]")
@click.option(
    "--standbys-ready", is_flag=True, help="All standbys of PostgreSQL have the folder, too."
)
@common
def move(
    what: Part, url: str, folder: str, back: bool, check: bool, database: str,
    standbys_ready: bool, options: Options,
) -> int:  # fmt: skip
    """Move temporary files, a database or the log of the server at URL onto flash, or back.

    On PostgreSQL, Dyno moves temporary files and databases while the server runs, by tablespaces.
    The server stores the previous setting, so --back needs no --flash, and the next move finishes
    or undoes an interrupted one. A server must be stopped to move its log, or MariaDB's temporary
    files: Dyno prints the commands, and does not run them. The same goes for SQL Server: its tempdb
    moves at a restart, and its log while the database is offline.

    Without --yes, shows what would be done, and asks for the name of the tablespace.
    """
    from dyno import targets
    from dyno.contracts import flash
    from dyno.contracts.target import Limits
    from dyno.errors import UsageError

    address = targets.parse(url)
    flash.require(address, what)
    if not folder and not back:
        raise UsageError("Give --flash, or --back.")
    if database and what != "database":
        raise UsageError("--database is for `move database`.")
    target = targets.open_target(address, options.out, Limits(1 << 30, 1))
    wanted = flash.Wanted(what, folder, back, database, standbys_ready)
    found = flash.planned(target, wanted)
    done = False
    if not check and (found.steps or found.script):
        click.echo("\n".join(_plan(found)), err=True)
        if found.obstacle is not None:
            raise found.obstacle
        if found.steps and confirmed(found.name, options, "tablespace"):
            for step in found.steps:
                step.run()
            found, done = flash.planned(target, wanted), True
    as_asked = found.on_flash is (not back) and not found.steps
    if options.as_json:
        click.echo(plainjson.dumps({
            **HEAD, "target": address.redacted, "what": what, "now": found.now,
            "on_flash": found.on_flash, "moved": done,
            "steps": [step.text for step in found.steps], "script": list(found.script),
            "notes": list(found.notes),
        }))  # fmt: skip
    elif found.script and not check:
        click.echo("\n".join(map(plain, found.script)))
    elif check or done or as_asked:
        click.echo("\n".join(_state(found, finished=not found.steps)))
    return 1 if (check or done) and not as_asked else 0


def _plan(found: Move) -> list[str]:
    return [
        _wrapped("Now", found.now),
        *(f"Step     {plain(step.text)}" for step in found.steps),  # not wrapped: to be copied
        *(_wrapped("Note", note) for note in found.notes),
    ]


def _state(found: Move, *, finished: bool) -> list[str]:
    where = {True: "on flash", False: "not on flash", None: "unknown"}[found.on_flash]
    rest = "" if finished else "; a move was interrupted, or is still to be done"
    return [_wrapped("Now", found.now), f"Flash    {where}{rest}"]


def _wrapped(title: str, text: str) -> str:
    head = f"{title:9}"
    return textwrap.fill(
        plain(text), 80, initial_indent=head, subsequent_indent=" " * len(head),
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
