"""``dyno generate``: a workload's data as files."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from dyno.cli._options import Options, common, examples
from dyno.cli._strictly import SEED
from dyno.safety import plainjson


@click.command(
    "generate",
    short_help="Write a workload's data as files.",
    epilog=examples(
        "dyno generate tpch --scale 1 --format parquet --to data/",
        "dyno generate tpch --scale 100 --format tbl --to data/ --parts 8 --part 3",
        "dyno generate tpcc --scale 5 --format csv --to data/",
        "dyno generate tpch --scale 10 --format tbl --to /dev/null   for its speed",
    ),
)
@click.argument("workload")
@click.option("--scale", type=float, required=True, help="Scale factor or warehouses.")
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["parquet", "arrow", "csv", "tbl"]),
    default="parquet",
    show_default=True,
)
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder for the files; made if missing.",
)
@click.option("--parts", type=click.IntRange(1, 10_000), default=1, show_default=True)
@click.option("--part", type=click.IntRange(1), help="Only this one of --parts.")
@click.option("--seed", type=SEED, default=1, show_default=True)
@click.option("--replace", is_flag=True, help="Overwrite files of those names.")
@common
def command(
    workload: str,
    scale: float,
    file_format: str,
    folder: Path,
    parts: int,
    part: int | None,
    seed: int,
    replace: bool,
    options: Options,
) -> int:
    """Write the rows of WORKLOAD to files, one a table and part.

    Parts can be made on different machines: put together in order they are the same, byte for
    byte (csv, tbl) or row for row (parquet, arrow), as one part. What goes to /dev/null is made and
    not kept.
    """
    import os

    from dyno import _core, workloads

    scale = workloads.named(workload).parse_scale(scale)
    _core.prepare(workload)  # while the rest is imported
    from dyno.cli._console import Console
    from dyno.config.units import bytes_text, digits
    from dyno.errors import UsageError
    from dyno.safety.unwritable import why
    from dyno.stages.generate import GeneratePlan, generate

    if part is not None and part > parts:
        raise UsageError(f"--part {part} is more than --parts {parts}.")
    try:
        if not folder.is_char_device():
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"Cannot create {folder}: {why(error, folder)}. Give another --to DIR."
        ) from error
    console = Console(quiet=options.quiet)
    threads = len(os.sched_getaffinity(0))
    plan = GeneratePlan(
        workload, scale, seed, file_format, folder.absolute(), parts, part, threads, replace
    )
    start = time.monotonic()
    with console.phase(f"Generate {workload} {scale:g} as {file_format}") as progress:
        outcome = generate(plan, progress)
    seconds = time.monotonic() - start
    size = sum(table["bytes"] for table in outcome["tables"])
    document: dict[str, Any] = {
        "run": None,
        "bundle": None,
        "valid": True,
        "reasons": [],
        "folder": str(plan.folder),
        "seconds": seconds,
        **outcome,
    }
    if options.as_json:
        click.echo(plainjson.dumps(document))
    else:
        for table in outcome["tables"]:
            click.echo(f"{table['table']:12}{table['rows']:>14,} rows {bytes_text(table['bytes'])}")
        click.echo(f"{bytes_text(size)} in {digits(seconds)} s, {bytes_text(size / seconds)}/s")
        click.echo(workloads.get(workload).notice)
    return 0
