"""``dyno accelerate log``: the log of a server on flash, and back."""

from __future__ import annotations

from pathlib import Path

import click

from dyno.cli._attach import confirmed
from dyno.cli._options import Options, common, examples
from dyno.safety import plainjson
from dyno.safety.text import plain

_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command(
    "log",
    short_help="Move the log of a server onto flash, or back.",
    epilog=examples(
        "dyno accelerate log /var/lib/postgresql/17/main --flash /flash",
        "dyno accelerate log /var/lib/postgresql/17/main --back --yes",
    ),
)
@click.argument("folder", type=_FOLDER)
@click.option(
    "--flash", type=_FOLDER, help="Folder on flash; the log gets a folder of its own in it."
)
@click.option("--back", is_flag=True, help="Move the log back into FOLDER.")
@common
def log(folder: Path, flash: Path | None, back: bool, options: Options) -> int:
    """Move the log of the PostgreSQL whose data is in FOLDER onto flash. Stop the server first.

    The log is copied and synced, then a link takes the place of pg_wal; the old files are removed
    last. A move that was killed is mended by the next one, or undone by --back. Without --yes, asks
    for the name of the folder.
    """
    from dyno.accelerate.attach import logs
    from dyno.errors import UsageError

    if back == (flash is not None):
        raise UsageError("Give either --flash FOLDER or --back.")
    folder = folder.expanduser().resolve()
    what = "back" if flash is None else f"to {plain(str(flash))}"
    click.echo(f"Moves the log of {plain(str(folder))} {what}.", err=True)
    if not confirmed(folder.name, options):
        return 0
    place = logs.take_back(folder) if flash is None else logs.move(folder, flash.resolve())
    if options.as_json:
        click.echo(plainjson.dumps({"run": None, "bundle": None, "valid": True, "reasons": [],
                                    "folder": str(folder), "log": str(place)}))  # fmt: skip
    else:
        click.echo(f"The log is in {plain(str(folder if flash is None else place))}.")
    return 0
