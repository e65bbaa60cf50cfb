"""``dyno runs``: lists, shows and exports runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from dyno.cli._options import Options, common, examples
from dyno.safety import plainjson
from dyno.safety.text import shown


@click.group(
    "runs",
    short_help="List, show, export and complete the runs under --out.",
    epilog=examples(
        "dyno runs list",
        "dyno runs list --all      failed starts as well",
        "dyno runs show last",
        "dyno runs export last --to run.tar.gz",
        "dyno runs tables last --to tables --format csv",
        "dyno runs import last iostat.json    what iostat recorded on the server",
    ),
)
def command() -> None:
    """List, show, export and complete the runs whose bundles are under --out."""


@command.command("list", short_help="List runs, newest first.")
@click.option(
    "--all",
    "with_failed",
    is_flag=True,
    help="Include runs that ended before they measured anything.",
)
@common
def list_runs(with_failed: bool, options: Options) -> int:
    """List running runs and runs with measurements, newest first."""
    from dyno.bundle.reader import list_bundles
    from dyno.workspace.lock import OutLock

    # A run may begin or end while bundles are read, so check the lock before and after.
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
        click.echo(f"No runs in {options.out}. Start with `dyno quickstart`.")
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
        click.echo(f"{runs} without measurements not listed; use --all to list all.")
    return 0


@command.command("show", short_help="Show the summary of a run.")
@click.argument("run")
@common
def show(run: str, options: Options) -> int:
    """Show the summary of RUN (an id, a unique prefix, a path, a .tar.gz, or `last`)."""
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


@command.command("export", short_help="Pack the bundle of a run into one file.")
@click.argument("run")
@click.option(
    "--to",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="Archive to write, such as run.tar.gz.",
)
@common
def export(run: str, to: Path, options: Options) -> int:
    """Pack the bundle of RUN into one file that `dyno report` can open.

    Only files that Dyno wrote are packed. --yes overwrites an existing file.
    """
    from dyno.bundle import archive
    from dyno.bundle.reader import find_bundle
    from dyno.errors import UsageError
    from dyno.safety.text import plain
    from dyno.workspace.lock import OutLock

    bundle = find_bundle(options.out, run)
    if to.exists() and not options.yes:
        raise UsageError(f"{to} exists; use --yes to overwrite it.")
    left = archive.write(bundle, to)
    for item in left:
        click.echo(f"Not packed, not written by Dyno: {plain(str(item))}", err=True)
    row = _row(bundle, at_work=OutLock.held(options.out))
    document = {
        **row, "file": str(to), "bytes": to.stat().st_size, "left": [str(item) for item in left],
    }  # fmt: skip
    click.echo(
        plainjson.dumps(document) if options.as_json else f"{to}: {to.stat().st_size:,} bytes"
    )
    return 0


@command.command("tables", short_help="Export the tables of a run as CSV or Parquet.")
@click.argument("run")
@click.option(
    "--to",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Folder for the files.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["csv", "parquet"]),
    default="csv",
    show_default=True,
    help="Format of the files.",
)
@common
def tables(run: str, to: Path, kind: Literal["csv", "parquet"], options: Options) -> int:
    """Export the tables of RUN, one file a table: samples, queries, operations by level …

    RUN is an id, a unique prefix of one, `last`, or the path of a bundle or of its .tar.gz. Times
    are ns since the Unix epoch; histograms are HDR (V2, deflated, base64) of ns. --yes overwrites
    existing files.
    """
    from dyno.bundle.exported import export as write
    from dyno.bundle.exported import words
    from dyno.cli._bundles import named

    with named(options.out, run) as bundle:
        files = write(bundle, to, kind, replace=options.yes)
    document = {"folder": str(to), "files": [path.name for path in files]}
    click.echo(plainjson.dumps(document) if options.as_json else shown(words(files)))
    return 0


@command.command("import", short_help="Add recordings of iostat or sar to a run.")
@click.argument("run")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False, exists=True)
)
@click.option("--machine", metavar="NAME", default="", help="Name of the server's machine.")
@click.option(
    "--offset",
    type=click.FloatRange(-1e9, 1e9),
    default=0.0,
    metavar="SECONDS",
    help="Seconds that the server's clock was ahead.  [default: 0]",
)
@common
def bring(run: str, files: tuple[Path, ...], machine: str, offset: float, options: Options) -> int:
    """Add what sysstat recorded on the server's machine during RUN to its samples.

    FILES come from `S_TIME_FORMAT=ISO iostat -o JSON -x -t 1` or `sadf -j FILE -- -A`. Only the
    time of the run is added. --yes replaces earlier samples of the machine. `dyno report` then
    judges the run with them.
    """
    from dyno.bundle.reader import find_bundle
    from dyno.runner.imports import bring as add
    from dyno.safety.text import plain

    found = add(find_bundle(options.out, run), files, machine, offset, replace=options.yes)
    document = {
        "machine": found.machine,
        "samples": found.samples,
        "moments": found.moments,
        "seconds": found.seconds,
    }
    words = (
        f"{found.samples:,} samples of {plain(found.machine)} at {found.moments:,} times over "
        f"{found.seconds:.0f} s added. Next: dyno report {plain(run)}"
    )
    click.echo(plainjson.dumps(document) if options.as_json else shown(words))
    return 0


def _status(status: str, *, at_work: bool) -> str:
    """The status; a running run without a process was killed."""
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
