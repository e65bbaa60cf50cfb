"""``dyno capture``: drafts a workload file from what a server really runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dyno.cli._options import examples
from dyno.config.units import parse_seconds
from dyno.errors import DynoError, UsageError

if TYPE_CHECKING:
    from dyno.runner.capture import Captured

_MOST = 100
_LONGEST_S = 24 * 3600.0


@click.command(
    "capture",
    short_help="Draft a workload file from what a server runs.",
    epilog=examples(
        "dyno capture postgresql://app@db1/shop --from pg_stat_statements",
        "dyno capture URL --from pg_stat_statements --for 60s --out shop.toml",
        "dyno capture mysql://app@db3/shop --from performance_schema --top 10",
        "dyno capture mssql://app@db4/shop --from dm_exec_query_stats --top 10",
        "dyno capture postgresql://app@db1/shop --from postgresql.csv --out shop.toml",
        "dyno capture URL --from general.log --out shop.toml --with-values",
        "dyno run shop.toml --target URL --dry-run     then look at each draw",
    ),
)
@click.argument("target")
@click.option(
    "--from",
    "source",
    required=True,
    metavar="SOURCE",
    help="pg_stat_statements, performance_schema, dm_exec_query_stats, or the path of a log.",
)
@click.option(
    "--for",
    "length",
    metavar="TIME",
    help="Watch the counters for this long.  [default: since their last reset]",
)
@click.option(
    "--database",
    metavar="NAME",
    help="Only statements of this database of the log.  [default: TARGET's]",
)
@click.option(
    "--top",
    type=click.IntRange(1, _MOST),
    default=20,
    show_default=True,
    help="Maximum number of transactions in the file.",
)
@click.option(
    "--out",
    "path",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.toml",
    help="The file; it must not exist.  [default: standard output]",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
@click.option("--with-values", is_flag=True, help="Store values from the log in the file.")
def command(
    target: str,
    source: str,
    length: str | None,
    database: str | None,
    top: int,
    path: Path | None,
    as_json: bool,
    with_values: bool,
) -> int:
    """Draft a file for `dyno run FILE.toml` from what the server TARGET really runs.

    Weights are numbers of executions. From a log, statements between BEGIN and COMMIT become one
    transaction; a server's counters only have single statements. Literals become parameters that
    are drawn from the column that they are compared with. A value that Dyno cannot draw is marked
    with "fill in", and the file does not run until you fill it in.

    No value of the server's users is stored without --with-values. Statements that may name a
    password are left out. TARGET is only read: its tables, keys and counters.

    The log is a CSV or JSON log of PostgreSQL, or a general log of MariaDB or MySQL, as for
    `dyno replay`.
    """
    from dyno.runner.capture import capture, name_of
    from dyno.safety import safefiles

    seconds = None if length is None else parse_seconds(length)
    if seconds is not None and seconds > _LONGEST_S:
        raise UsageError("--for must be at most 24 h.")
    if path is not None:
        _require_new(path)
    made = capture(
        target, source, seconds=seconds, database=database, top=top, name=name_of(path),
        with_values=with_values,
    )  # fmt: skip
    if path is not None:
        try:
            with safefiles.replacing(path.absolute(), follow=True) as file:
                file.write(made.text.encode())
        except (OSError, DynoError):
            # It may have taken hours.
            click.echo(made.text, nl=False)
            raise
    if as_json:
        click.echo(json.dumps(_document(made, path), ensure_ascii=False))
    elif path is None:
        click.echo(made.text, nl=False)
    _explain(made, with_values=with_values)
    return 0


def _document(made: Captured, path: Path | None) -> dict[str, Any]:
    return {
        "file": None if path is None else str(path),
        "text": made.text,
        "transactions": {one.name: one.weight for one in made.draft.transactions},
        "fill_in": made.draft.open,
        "left_out": dict(made.draft.left_out),
        "notes": list(made.notes),
    }


def _explain(made: Captured, *, with_values: bool) -> None:
    """What the user must know, on stderr."""
    for note in made.notes:
        click.echo(f"! {note}", err=True)
    if with_values:
        click.echo("! The file has values from the log. Check it before you share it.", err=True)
    count = len(made.draft.transactions)
    click.echo(f"{count} transaction{'s'[: count != 1]} drafted.", err=True)
    for reason, left in made.draft.left_out.items():
        click.echo(f"  left out, {left:,} execution{'s'[: left != 1]}: {reason}", err=True)
    if made.draft.open:
        names = ", ".join(made.draft.open)
        click.echo(f"Fill in before you run it: {names}.", err=True)


def _require_new(path: Path) -> None:
    """Refuses a file that exists, or a name that `dyno run` would not take.

    Raises:
        UsageError: With the file.
    """
    if path.suffix != ".toml":
        raise UsageError(f"--out {path}: the name must end in .toml.")
    if path.exists() or path.is_symlink():
        raise UsageError(f"--out {path} exists; remove it or choose another name.")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"--out {path}: the folder {path.parent} does not exist; create it.")
