"""``dyno runs``: what has been measured here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dyno.cli._options import Options, common, examples
from dyno.safety import plainjson
from dyno.safety.text import shown


@click.group(
    "runs",
    short_help="List, show and export the runs under --out.",
    epilog=examples(
        "dyno runs list",
        "dyno runs list --all      failed starts too",
        "dyno runs show last",
        "dyno runs export last --to run.tar.gz",
    ),
)
def command() -> None:
    """The runs whose bundles are under --out."""


@command.command("list")
@click.option("--all", "with_failed", is_flag=True, help="Also runs that ended before measuring.")
@common
def list_runs(with_failed: bool, options: Options) -> int:
    """The runs that measured something or are running, newest first."""
    from dyno.bundle.reader import list_bundles
    from dyno.workspace.lock import OutLock

    # A run may end or begin while bundles are read: who is at work is asked before and after.
    before = OutLock.held(options.out)
    every = list_bundles(options.out)
    ended = ("failed", "interrupted")
    bundles = [one for one in every if with_failed or one.run.status not in ended or one.measured]
    hidden = len(every) - len(bundles)
    at_work = before or OutLock.held(options.out)
    if options.as_json:
        click.echo(plainjson.dumps([_row(bundle, at_work=at_work) for bundle in bundles]))
        return 0
    if not every:
        click.echo(f"No runs in {options.out}. `dyno quickstart` makes one.")
        return 0
    if bundles:
        click.echo(f"{'run':24}{'verb':12}{'status':13}{'verdict':11}workloads")
    for bundle in bundles:
        row = _row(bundle, at_work=at_work)
        verdict = row["verdict"] or "-"
        words = " ".join(row["workloads"])
        line = f"{row['run']:24}{row['verb']:12}{row['status']:13}{verdict:11}{words}"
        click.echo(shown(line.rstrip()))
    if hidden:
        runs = "1 run" if hidden == 1 else f"{hidden} runs"
        click.echo(f"{runs} not listed: ended before measuring anything (`--all` lists all).")
    return 0


@command.command("show")
@click.argument("run")
@common
def show(run: str, options: Options) -> int:
    """The summary of RUN (an id, its unique beginning, a path, a .tar.gz, or `last`)."""
    from dyno.cli._bundles import named
    from dyno.cli._colour import coloured
    from dyno.report import document, summary
    from dyno.workspace.lock import OutLock

    at_work = OutLock.held(options.out)
    with named(options.out, run) as bundle:
        estimates, findings = bundle.estimates(), bundle.findings()
        if options.as_json:
            click.echo(plainjson.dumps(document(bundle, estimates, findings)))
            return 0
        click.echo(coloured(summary(bundle, estimates, findings)))
    for phase in bundle.run.phases:
        status = _status(phase.status, at_work=at_work)
        click.echo(shown(f"  {status:12}{phase.seconds:9.1f} s  {phase.title}"))
    return 0


@command.command("export")
@click.argument("run")
@click.option(
    "--to", type=click.Path(path_type=Path, dir_okay=False), required=True, help="A .tar.gz file."
)
@common
def export(run: str, to: Path, options: Options) -> int:
    """Pack the bundle of RUN into one file for somebody else: `dyno report` opens it.

    Only what Dyno wrote is packed. --yes overwrites a file; nothing else is ever replaced.
    """
    from dyno.bundle import archive
    from dyno.bundle.reader import find_bundle
    from dyno.errors import UsageError
    from dyno.safety.text import plain
    from dyno.workspace.lock import OutLock

    bundle = find_bundle(options.out, run)
    if to.exists() and not options.yes:
        raise UsageError(f"{to} exists; give --yes to overwrite it.")
    left = archive.write(bundle, to)
    for item in left:
        click.echo(f"Not packed, since Dyno did not write it: {plain(str(item))}", err=True)
    row = _row(bundle, at_work=OutLock.held(options.out))
    document = {
        **row, "file": str(to), "bytes": to.stat().st_size, "left": [str(item) for item in left],
    }  # fmt: skip
    click.echo(
        plainjson.dumps(document) if options.as_json else f"{to}: {to.stat().st_size:,} bytes"
    )
    return 0


def _status(status: str, *, at_work: bool) -> str:
    """One that goes on though nobody works on it was killed before it could say so."""
    return "cut off" if status == "running" and not at_work else status


def _row(bundle: Any, *, at_work: bool) -> dict[str, Any]:
    run = bundle.run
    return {
        "run": run.run,
        "bundle": str(bundle.path),
        "verb": run.verb,
        "status": _status(run.status, at_work=at_work),
        "workloads": list(run.workloads),
        "valid": run.validity.valid,
        "verdict": run.validity.verdict,
        "reasons": [reason.message for reason in run.validity.reasons],
    }
