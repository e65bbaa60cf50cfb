"""``dyno accelerate record|prewarm``: what a job reads, and a cache that has it before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dyno.cli._options import Options, common, examples
from dyno.safety import plainjson
from dyno.safety.text import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from dyno.contracts.relations import Relations

_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command(
    "record",
    short_help="Record what is read and written in a folder with a cache.",
    epilog=examples(
        "dyno accelerate record /srv/dwh --for 30m --to night.dyno.parquet",
        "dyno accelerate simulate night.dyno.parquet",
        "dyno accelerate prewarm /srv/dwh --record night.dyno.parquet",
    ),
)
@click.argument("folder", type=_FOLDER)
@click.option("--for", "length", default="1h", show_default=True, help="How long.")
@click.option(
    "--to", type=click.Path(path_type=Path, dir_okay=False), required=True,
    help="Parquet file to write; `simulate` knows names that end in .dyno.parquet.",
)  # fmt: skip
@click.option(
    "--target", metavar="URL",
    help="The PostgreSQL that owns these files: records its tables and indexes by name.",
)  # fmt: skip
@common
def record(folder: Path, length: str, to: Path, target: str | None, options: Options) -> int:
    """Record the requests that the daemon of FOLDER's cache gets, by file and offset.

    These are the requests that the page cache did not serve, of files of cached kinds. Ctrl-C ends
    the record early, and keeps it.
    """
    from dyno.accelerate.attach import attached, recording
    from dyno.cli._console import Console
    from dyno.config.units import parse_seconds
    from dyno.errors import TargetError
    from dyno.safety.unwritable import why

    cache = attached.cache_of(folder.expanduser().absolute())
    to = to.expanduser().absolute()
    if to.is_relative_to(folder.expanduser().absolute()):
        raise click.UsageError("--to must be outside of the recorded folder.")
    known = _relations(target, options)
    console = Console(quiet=options.quiet, as_json=options.as_json)
    with console.phase("Record") as progress:
        try:
            recording.record(cache, parse_seconds(length), progress)
            requests = recording.write(cache, to, known())
        except KeyboardInterrupt:
            recording.write(cache, to, known())
            raise
        except OSError as error:
            raise TargetError(f"Cannot write {to}: {why(error, to)}", kind="io") from error
    if options.as_json:
        click.echo(plainjson.dumps({"run": None, "bundle": None, "valid": True, "reasons": [],
                                    "file": str(to), "requests": requests}))  # fmt: skip
    else:
        click.echo(f"{requests:,} requests in {plain(str(to))}")
    return 0


def _relations(url: str | None, options: Options) -> Callable[[], Relations]:
    """Who tells the relations in the files: as they are, or were at the start if nobody responds.

    Raises:
        UsageError: If the target at ``url`` does not know them.
        TargetError: If it cannot be reached.
    """
    from dyno import targets
    from dyno.contracts.relations import NamesFiles
    from dyno.contracts.target import Limits
    from dyno.errors import DynoError, UsageError

    if url is None:
        return lambda: lambda _: None
    found = targets.open_target(targets.parse(url), options.out, Limits(1 << 30, 1))
    if not isinstance(found, NamesFiles):
        raise UsageError("--target needs a PostgreSQL at a URL.")
    first = found.relations()

    def now() -> Relations:
        try:
            return found.relations()
        except DynoError:
            return first

    return now


@click.command(
    "prewarm",
    short_help="Put what a job reads into a cache before the job begins.",
    epilog=examples(
        "dyno accelerate prewarm /srv/dwh --record night.dyno.parquet",
        "dyno accelerate prewarm /srv/dwh --files base/16384",
        "45 6 * * 1-5 dyno accelerate prewarm /srv/dwh --files base    in a crontab",
    ),
)
@click.argument("folder", type=_FOLDER)
@click.option(
    "--record", "trace", type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="File that `dyno accelerate record` wrote while the job ran.",
)  # fmt: skip
@click.option(
    "--files", "places", multiple=True, type=click.Path(path_type=Path),
    help="A file, or a folder with all its files, relative to FOLDER; repeatable.",
)  # fmt: skip
@common
def prewarm(
    folder: Path, trace: Path | None, places: tuple[Path, ...], options: Options
) -> int:  # fmt: skip
    """Read what a job will need from FOLDER into its cache, by file and offset, 1 MiB at a time.

    Other reads go first. What is cached stays where it is. Run it by cron before the working day.
    """
    from dyno.accelerate.attach import attached, recording
    from dyno.cli._console import Console
    from dyno.config.units import bytes_text
    from dyno.errors import UsageError

    origin = folder.expanduser().absolute()
    attached.cache_of(origin)
    if (trace is None) == (not places):
        raise UsageError("Give either --record or --files.")
    if trace is not None:
        pieces = recording.pieces_of(trace)
    else:
        inside = [(origin / place).resolve() for place in places]
        if outside := [place for place in inside if not place.is_relative_to(origin)]:
            raise UsageError(f"{outside[0]} is not in {origin}.")
        if missing := [place for place in inside if not place.exists()]:
            raise UsageError(f"No such file or folder: {missing[0]}.")
        pieces = recording.pieces_in(origin, inside)
    console = Console(quiet=options.quiet, as_json=options.as_json)
    with console.phase("Prewarm") as progress:
        added = recording.prewarm(origin, pieces, progress)
    if options.as_json:
        click.echo(plainjson.dumps({"run": None, "bundle": None, "valid": True, "reasons": [],
                                    "pieces": len(pieces), "blocks": added}))  # fmt: skip
    else:
        click.echo(f"{bytes_text(added * 8192)} of {bytes_text(len(pieces) << 20)} were added.")
    return 0
