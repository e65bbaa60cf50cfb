"""``--flash`` and what uses it: a cache in a run, the log and temporary files in a load."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from dyno.cli._options import Decorator, declared
from dyno.plans.flash import FlashStart


def _folder(what: str) -> Decorator:
    return click.option(
        "--flash",
        type=click.Path(path_type=Path, file_okay=False),
        help=f"Folder on flash for {what}.  [default: OUT/flash]",
    )


of_load = declared(
    click.option(
        "--flash-log", is_flag=True, help="Put the engine's log on flash, in its own folder."
    ),
    click.option("--flash-temp", is_flag=True, help="The same for its temporary files."),
    _folder("--flash-log and --flash-temp"),
)
"""Adds the options of ``dyno load``."""

of_run = declared(
    click.option(
        "--accelerate",
        type=click.Choice(get_args(FlashStart)),
        help="Put a read cache on flash in front of the private engine's files. At first it holds "
        "what the last run left in it, nothing, or all files.",
    ),
    _folder("the cache"),
    click.option(
        "--flash-size",
        metavar="SIZE",
        help="Size of the cache.  [default: twice that of the engine's files]",
    ),
    click.option(
        "--prewarm",
        metavar="RECORD",
        type=click.Path(path_type=Path, dir_okay=False, exists=True),
        help="Before the run, cache what a job read: a file from `dyno accelerate record`.",
    ),
    click.option(
        "--record-reads",
        is_flag=True,
        help="Record the reads sent to the cache, for `dyno accelerate simulate RUN`.",
    ),
)
"""Adds the options of ``dyno run``."""
