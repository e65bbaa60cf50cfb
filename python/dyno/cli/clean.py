"""``dyno clean``: remove what Dyno made, under --out or in a database at a URL."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from dyno.cli._options import Options, common, examples
from dyno.safety import plainjson


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
    what is outside --out only the folders go that the engines have on volumes of a layout. What
    Dyno did not make, what belongs to another user and what lies behind a link is left and named.

    With --target the tables, schemas and tablespaces that bear Dyno's mark at that URL are listed,
    and removed with --yes; nothing under --out is touched then. A database of MariaDB or MySQL
    bears no mark, and stays.
    """
    if url is not None:
        if with_runs:
            raise click.UsageError("--target and --runs exclude each other.")
        return _clean_target(url, options)
    from dyno.config.units import bytes_text
    from dyno.safety.text import plain
    from dyno.targets import scratch
    from dyno.workspace import engine_folders
    from dyno.workspace import places as placed
    from dyno.workspace.lock import OutLock

    if not options.out.is_dir():
        raise click.UsageError(f"There is no folder {options.out}.")
    homes, foreign = engine_folders.homes(options.out)
    volumes = [place for home in homes for place in placed.own(home.resolve())]
    bundles, others = _bundles(options.out) if with_runs else ([], [])
    foreign += others
    killed = scratch.left(options.out)
    places = [*homes, *killed, *bundles]
    size = sum(_size(place) for place in (*places, *volumes))
    for item in foreign:
        click.echo(f"Left as it is, since Dyno did not make it: {plain(str(item))}", err=True)
    if places and not options.yes:
        for place in (*places, *volumes):
            click.echo(f"  {place}", err=True)
        if not click.confirm(f"Remove these, {bytes_text(size)}?", err=True):
            places, volumes, homes, killed, bundles, size = [], [], [], [], [], 0
            click.echo("Nothing removed.", err=True)
    # A folder in which nothing is Dyno's gets no lock either.
    with OutLock(options.out) if places else contextlib.nullcontext():
        if killed:
            scratch.sweep(options.out)
        _remove(homes, bundles)
    removed = [str(place) for place in (*places, *volumes)]
    if options.as_json:
        click.echo(
            plainjson.dumps(
                {
                    "run": None,
                    "bundle": None,
                    "valid": True,
                    "reasons": [],
                    "removed": removed,
                    "left": [str(item) for item in foreign],
                    "bytes": size,
                }
            )
        )
    else:
        click.echo(f"Removed {bytes_text(size)}." if places else "Nothing to remove.")
    return 0


def _remove(homes: list[Path], bundles: list[Path]) -> None:
    """Removes engines with what they have on volumes, and bundles.

    Raises:
        TargetError: If something cannot be removed.
    """
    from dyno.bundle import members
    from dyno.errors import TargetError
    from dyno.workspace import engine_folders, places

    for home in homes:
        places.release(home.resolve())
        engine_folders.remove(home)
    for bundle in bundles:
        try:
            members.remove(bundle)
        except OSError as error:
            message = f"Cannot remove {bundle}: {error.strerror}."
            raise TargetError(message, kind="io") from error


def _bundles(out: Path) -> tuple[list[Path], list[Path]]:
    """Bundles of this user's, and what is left: links, others' bundles, and the user's files."""
    from dyno.bundle import members
    from dyno.bundle.reader import list_bundles

    own: list[Path] = []
    left = sorted(head.parent for head in out.glob("*/run.json") if head.parent.is_symlink())
    for bundle in list_bundles(out):
        if members.is_own_bundle(bundle.path):
            own.append(bundle.path)
            left += [bundle.path / name for name in members.content(bundle.path).others]
        else:
            left.append(bundle.path)
    return own, left


def _clean_target(url: str, options: Options) -> int:
    """Lists what bears Dyno's mark at a URL, or removes it with ``--yes``.

    Raises:
        UsageError: If the target is one whose data is not removed this way.
        TargetError: If it cannot be used.
    """
    from dyno import targets
    from dyno.contracts.target import Limits, Removable
    from dyno.errors import UsageError

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
        click.echo(plainjson.dumps({**document, "found": found, "removed": removed}))
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
