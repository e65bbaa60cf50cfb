"""``dyno generate``: writes a workload's data to files."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from dyno.cli import _live
from dyno.cli._options import Options, common, days_option, examples
from dyno.cli._strictly import SEED
from dyno.safety import plainjson


@click.command(
    "generate",
    short_help="Write a workload's data to files.",
    epilog=examples(
        "dyno generate tpch --scale 1 --format parquet --to data/",
        "dyno generate tpch --scale 100 --format tbl --to data/ --parts 8 --part 3",
        "dyno generate tpcc --scale 5 --format csv --to data/",
        "dyno generate brokerage --scale 1 --days 30 --to data/",
        "dyno generate tpch --scale 10 --format tbl --to /dev/null   generator speed",
    ),
)
@click.argument("workload")
@click.option(
    "--scale", type=float, required=True, help="Scale factor, warehouses, or 1,000 customers."
)
@days_option
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["parquet", "arrow", "csv", "tbl"]),
    default="parquet",
    show_default=True,
    help="File format.",
)
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder for the files; created if missing.",
)
@click.option(
    "--parts",
    type=click.IntRange(1, 10_000),
    default=1,
    show_default=True,
    help="Number of files per table.",
)
@click.option("--part", type=click.IntRange(1), help="Write only this one of --parts.")
@click.option("--seed", type=SEED, default=1, show_default=True, help="Data seed.")
@click.option("--replace", is_flag=True, help="Overwrite existing files.")
@_live.option
@common
def command(
    workload: str,
    scale: float,
    days: int | None,
    file_format: str,
    folder: Path,
    parts: int,
    part: int | None,
    seed: int,
    replace: bool,
    options: Options,
) -> int:
    """Write the rows of WORKLOAD to files, one file per table and part.

    Different machines can write different parts. Joined in order they equal a single part, byte
    for byte (csv, tbl) or row for row (parquet, arrow). With --to /dev/null, rows are generated
    and discarded.
    """
    import os

    from dyno import _core, workloads

    chosen = workloads.named(workload)
    scale, days = chosen.parse_scale(scale), chosen.parse_days(days)
    _core.prepare(workload)  # while the rest is imported
    from dyno.cli._console import Console
    from dyno.cli._work import typed
    from dyno.config.units import bytes_text, digits
    from dyno.errors import UsageError
    from dyno.runner.followed import followed
    from dyno.safety.unwritable import why
    from dyno.stages.generate import GeneratePlan, generate

    if part is not None and part > parts:
        raise UsageError(f"--part {part} is more than --parts {parts}.")
    try:
        if not folder.is_char_device():
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"Cannot create {folder}: {why(error, folder)}. Use another --to DIR."
        ) from error
    console = Console(quiet=options.quiet, live=options.live)
    threads = len(os.sched_getaffinity(0))
    plan = GeneratePlan(
        workload, scale, seed, file_format, folder.absolute(), parts, part, threads, replace, days
    )
    history = "" if days is None else f", {days} days,"
    title = f"Generate {workload} {scale:g}{history} as {file_format}"
    with (
        followed(console, "generate", typed(), console.close, live=options.live) as events,
        events.phase(title) as progress,
    ):
        start = time.monotonic()
        outcome = generate(plan, progress)
        seconds = time.monotonic() - start
    size = sum(table["bytes"] for table in outcome["tables"])
    document: dict[str, Any] = {
        "run": None,
        "bundle": None,
        "valid": True,
        "reasons": [],
        "scale": scale,
        **({} if days is None else {"days": days}),
        "folder": str(plan.folder),
        "seconds": seconds,
        **outcome,
    }
    if options.as_json:
        click.echo(plainjson.dumps(document))
    else:
        width = max(12, *(len(table["table"]) + 1 for table in outcome["tables"]))
        for table in outcome["tables"]:
            rows, size_text = f"{table['rows']:>14,} rows", bytes_text(table["bytes"])
            click.echo(f"{table['table']:{width}}{rows} {size_text}")
        click.echo(f"{bytes_text(size)} in {digits(seconds)} s, {bytes_text(size / seconds)}/s")
        click.echo(workloads.get(workload).notice)
    return 0
