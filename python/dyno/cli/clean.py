"""``dyno clean``: remove what Dyno made, under --out or in a database at a URL."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dyno.cli._options import Options, common, examples


@click.command(
    "clean",
    short_help="Remove what Dyno made, here or at a URL.",
    epilog=examples(
        "dyno clean            asks first",
        "dyno clean --yes      does not",
        "dyno clean --runs     bundles too",
        "dyno clean --target postgresql://bench@db1/bench         lists Dyno's tables",
        "dyno clean --target postgresql://bench@db1/bench --yes   removes them",
    ),
)
@click.option("--runs", "with_runs", is_flag=True, help="Remove the bundles of all runs as well.")
@click.option("--target", "url", help="Instead: list what Dyno made at this URL, or remove it.")
@common
def command(with_runs: bool, url: str | None, options: Options) -> int:
    """Remove what Dyno created under --out: the data of the embedded engines.

    What a backup that was killed has left goes with it. Bundles stay unless --runs is given. Of
    what is outside --out only the folders go that the engines have on volumes of a layout; what
    Dyno did not make is left and named.

    With --target the tables, schemas and tablespaces that bear Dyno's mark at that URL are listed,
    and removed with --yes; nothing under --out is touched then. A database of MariaDB or MySQL
    bears no mark, and stays.
    """
    if url is not None:
        if with_runs:
            raise click.UsageError("--target and --runs exclude each other.")
        return _clean_target(url, options)
    import shutil

    from dyno import engines
    from dyno import places as placed
    from dyno.bundle import list_bundles
    from dyno.lock import OutLock
    from dyno.targets import scratch
    from dyno.units import bytes_text

    if not options.out.is_dir():
        raise click.UsageError(f"There is no folder {options.out}.")
    homes, foreign = engines.homes(options.out)
    volumes = [place for home in homes for place in placed.own(home.resolve())]
    bundles = [bundle.path for bundle in list_bundles(options.out)] if with_runs else []
    bundles = [bundle for bundle in bundles if not bundle.is_symlink()]
    killed = scratch.left(options.out)
    places = [*homes, *killed, *bundles]
    size = sum(_size(place) for place in (*places, *volumes))
    for item in foreign:
        click.echo(f"Left as it is, since Dyno did not make it: {item}", err=True)
    if places and not options.yes:
        for place in (*places, *volumes):
            click.echo(f"  {place}", err=True)
        if not click.confirm(f"Remove these, {bytes_text(size)}?", err=True):
            places, volumes, homes, killed, bundles, size = [], [], [], [], [], 0
            click.echo("Nothing removed.", err=True)
    with OutLock(options.out):
        for home in homes:
            placed.release(home.resolve())
            engines.remove(home)
        if killed:
            scratch.sweep(options.out)
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


def _clean_target(url: str, options: Options) -> int:
    """Lists what bears Dyno's mark at a URL, or removes it with ``--yes``.

    Raises:
        UsageError: If the target is one whose data is not removed this way.
        TargetError: If it cannot be used.
    """
    from dyno import targets
    from dyno.errors import UsageError
    from dyno.targets.base import Limits, Removable

    parsed = targets.parse(url)
    if parsed.scheme == "embedded":
        raise UsageError("Leave --target out: `dyno clean` removes the embedded engines.")
    target = targets.open_target(parsed, options.out, Limits(1 << 30, 1))
    if not isinstance(target, Removable):
        raise UsageError(
            f"Dyno does not remove data from a {parsed.name} target yet: drop what is named "
            "dyno_tpch and dyno_tpcc there, or remove its file or folder."
        )
    with target:
        found = target.marked()
        removed = target.remove() if options.yes else []
    if options.as_json:
        document: dict[str, object] = {"run": None, "bundle": None, "valid": True, "reasons": []}
        click.echo(json.dumps({**document, "found": found, "removed": removed}, indent=1))
        return 0
    for item in removed if options.yes else found:
        click.echo(f"  {item}")
    if not found:
        click.echo(f"Nothing of Dyno's at {parsed.redacted}.")
    elif not options.yes:
        click.echo("Nothing removed. Give --yes to remove these.")
    else:
        click.echo(f"Removed from {parsed.redacted}.")
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
