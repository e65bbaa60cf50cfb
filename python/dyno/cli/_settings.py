"""``--set`` and ``--settings``: settings in neutral words, for one target and one run."""

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
        metavar="WORD=VALUE",
        help=f"Setting in a neutral word, as memory=4GB; repeat. Restored afterwards. "
        f"Words: {', '.join(WORDS)}.",
    ),
    click.option(
        "--settings",
        "settings_file",
        type=click.Path(path_type=Path, dir_okay=False),
        help="TOML file with a table [settings] of such words; --set wins.",
    ),
)
"""Adds ``--set`` and ``--settings``."""
