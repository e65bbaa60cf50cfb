"""``--set`` and ``--settings``: portable settings of the target for one run."""

from __future__ import annotations

from pathlib import Path

import click

from dyno.cli._options import declared
from dyno.config.settings import WORDS

options = declared(
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="Set a database parameter by its portable name, such as memory=4GB; repeatable. "
        f"Restored after the run. Names: {', '.join(WORDS)}.",
    ),
    click.option(
        "--settings",
        "settings_file",
        type=click.Path(path_type=Path, dir_okay=False),
        help="TOML file with a [settings] table; --set overrides it.",
    ),
)
"""Adds ``--set`` and ``--settings``."""
