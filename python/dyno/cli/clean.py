"""``dyno clean``: removes what Dyno created, under --out or in a database at a URL."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from dyno.cli._options import Options, common, examples
from dyno.safety import plainjson


@click.command(
    "clean",
    short_help="Remove what Dyno created, under --out or at a URL.",
    epilog=examples(
        "dyno clean            asks first",
        "dyno clean --yes      does not ask",
        "dyno clean --runs     bundles as well",
        "dyno clean --target postgresql://bench@db1/bench         lists Dyno's tables",
        "dyno clean --target postgresql://bench@db1/bench --yes   removes them",
    ),
)
@click.option("--runs", "with_runs", is_flag=True, help="Also remove the bundles of all runs.")
@click.option(
    "--target", "url", metavar="URL", help="List Dyno's data at this URL; remove it with --yes."
)
@common
def command(with_runs: bool, url: str | None, options: Options) -> int:
    """Remove what Dyno created under --out: the data of the private engines.

    Also removes files of interrupted backups, and the engines' folders on volumes of a layout.
    Bundles stay unless --runs is given. Anything that Dyno did not create, that belongs to another
    user or that is behind a symbolic link stays and is listed.

    With --target, lists the tables, schemas, tablespaces and SQL Server databases at that URL that
    carry Dyno's mark, and removes them with --yes. Nothing under --out is touched then. MariaDB and
    MySQL databases carry no mark and stay.
    """
    if url is not None:
        if with_runs:
            raise click.UsageError("--target and --runs cannot be combined.")
        return _clean_target(url, options)
    from dyno.accelerate.attach import leftover
    from dyno.config.units import bytes_text
    from dyno.safety.text import plain
    from dyno.targets import scratch
    from dyno.workspace import engine_folders
    from dyno.workspace import places as placed
    from dyno.workspace.lock import OutLock

    if not options.out.is_dir():
        raise click.UsageError(f"No such folder: {options.out}.")
    leftover.detach_all(options.out / engine_folders.FOLDER)
    homes, foreign = engine_folders.homes(options.out)
    volumes = [place for home in homes for place in placed.own(home.resolve())]
    bundles, others = _bundles(options.out) if with_runs else ([], [])
    foreign += others
    killed = scratch.left(options.out)
    places = [*homes, *killed, *bundles]
    size = sum(_size(place) for place in (*places, *volumes))
    for item in foreign:
        click.echo(f"Kept, not created by Dyno: {plain(str(item))}", err=True)
    if places and not options.yes:
        for place in (*places, *volumes):
            click.echo(f"  {place}", err=True)
        if not click.confirm(f"Remove these, {bytes_text(size)}?", err=True):
            places, volumes, homes, killed, bundles, size = [], [], [], [], [], 0
            click.echo("Nothing removed.", err=True)
    # A folder with nothing of Dyno's gets no lock file.
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
    """Removes engines with their folders on volumes, and bundles.

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
    """This user's bundles, and what is kept: links, foreign bundles and foreign files."""
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
    """Lists what carries Dyno's mark at a URL, or removes it with ``--yes``.

    Raises:
        UsageError: If this kind of target does not support it.
        TargetError: If the target cannot be used.
    """
    from dyno import targets
    from dyno.contracts.target import Limits, Removable
    from dyno.errors import UsageError

    parsed = targets.parse(url)
    if parsed.scheme == "embedded":
        raise UsageError("Omit --target: `dyno clean` removes embedded engines.")
    target = targets.open_target(parsed, options.out, Limits(1 << 30, 1))
    if not isinstance(target, Removable):
        raise UsageError(
            f"Dyno cannot remove data from a {parsed.name} target yet: drop the schemas dyno_tpch "
            "and dyno_tpcc there, or remove its file or folder."
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
        click.echo(f"Found no Dyno data at {parsed.redacted}.")
    elif not options.yes:
        click.echo("Nothing removed. Use --yes to remove these.")
    else:
        click.echo(f"Removed from {parsed.redacted}.")
    return 0


def _size(folder: Path) -> int:
    """Bytes on disk under ``folder``; ignores files that vanish meanwhile."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_blocks * 512
        except FileNotFoundError:
            continue
    return total
