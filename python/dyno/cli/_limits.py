"""``--limit``: CPU, memory and I/O limits of an engine for one run."""

from __future__ import annotations

import click

from dyno.cli._options import Decorator
from dyno.confinement.limits_asked import WORDS


def _option(engine: str) -> Decorator:
    return click.option(
        "--limit",
        "limits",
        multiple=True,
        metavar="NAME=VALUE",
        help=f"Limit {engine}, such as cpu=0.9; repeatable. Names: {', '.join(WORDS)}.",
    )


options = _option("the private engine (not the driver)")
"""Adds ``--limit`` for a database engine."""

own_options = _option("the I/O engine, which then runs in its own process")
"""Adds ``--limit`` for ``dyno io``."""
