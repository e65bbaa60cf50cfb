"""``dyno clean``: remove the private engines' data under --out."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dyno.cli._options import Options, common, examples


@click.command(
    "clean",
    short_help="Remove the private engines' data under --out.",
    epilog=examples(
        "dyno clean            asks first",
        "dyno clean --yes      does not",
        "dyno clean --runs     bundles too",
    ),
)
@click.option("--runs", "with_runs", is_flag=True, help="Remove the bundles of all runs as well.")
@common
def command(with_runs: bool, options: Options) -> int:
    """Remove what Dyno created under --out: the data of the embedded engines.

    Bundles stay unless --runs is given. Of what is outside --out only the folders go that the
    engines have on volumes of a layout; what Dyno did not make is left and named.
    """
    import shutil

    from dyno import engines
    from dyno import places as placed
    from dyno.bundle import list_bundles
    from dyno.lock import OutLock
    from dyno.units import bytes_text

    if not options.out.is_dir():
        raise click.UsageError(f"There is no folder {options.out}.")
    homes, foreign = engines.homes(options.out)
    volumes = [place for home in homes for place in placed.own(home.resolve())]
    bundles = [bundle.path for bundle in list_bundles(options.out)] if with_runs else []
    places = [*homes, *bundles]
    size = sum(_size(place) for place in (*places, *volumes))
    for item in foreign:
        click.echo(f"Left as it is, since Dyno did not make it: {item}", err=True)
    if places and not options.yes:
        for place in (*places, *volumes):
            click.echo(f"  {place}", err=True)
        if not click.confirm(f"Remove these, {bytes_text(size)}?", err=True):
            places, volumes, homes, bundles, size = [], [], [], [], 0
            click.echo("Nothing removed.", err=True)
    with OutLock(options.out):
        for home in homes:
            placed.release(home.resolve())
            engines.remove(home)
        for bundle in bundles:
            shutil.rmtree(bundle)
    removed = [str(place) for place in (*places, *volumes)]
    if options.as_json:
        click.echo(
            json.dumps(
                {
                    "run": None,
                    "bundle": None,
                    "valid": True,
                    "reasons": [],
                    "removed": removed,
                    "left": [str(item) for item in foreign],
                    "bytes": size,
                },
                indent=1,
            )
        )
    else:
        click.echo(f"Removed {bytes_text(size)}." if places else "Nothing to remove.")
    return 0


def _size(folder: Path) -> int:
    """Bytes on disk under ``folder``; what vanishes meanwhile counts as nothing."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_blocks * 512
        except FileNotFoundError:
            continue
    return total
