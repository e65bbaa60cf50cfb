"""``--limit``: processors, memory and I/O of an engine, for one run."""

from __future__ import annotations

import click

from dyno.cli._options import Decorator
from dyno.confinement.limits_asked import WORDS


def _option(whom: str) -> Decorator:
    return click.option(
        "--limit",
        "limits",
        multiple=True,
        metavar="WORD=VALUE",
        help=f"Limit {whom}, as cpu=0.9; repeat. Words: {', '.join(WORDS)}.",
    )


options = _option("the engine, where it is Dyno's own, and not the driver")
"""Adds ``--limit`` of an engine."""

own_options = _option("Dyno's storage engine, in its own process")
"""The same of ``dyno io``."""
