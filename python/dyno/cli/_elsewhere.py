"""``--agent`` and ``--exporter``: observe the machine of a server elsewhere."""

from __future__ import annotations

import click

from dyno.cli._options import declared

options = declared(
    click.option(
        "--agent",
        multiple=True,
        metavar="[NAME=]URL",
        help="Sample the database's machine: an agent at https://HOST, http://HOST, or started "
        "through ssh://HOST. Repeat for more machines.",
    ),
    click.option(
        "--exporter",
        multiple=True,
        metavar="[NAME=]URL",
        help="The same from a Prometheus exporter (node, postgres, mysqld) at URL; repeatable.",
    ),
)
"""Adds the options."""
