"""``dyno workloads``: lists and shows workloads that are workload files."""

from __future__ import annotations

from pathlib import Path

import click

from dyno.cli._options import Options, common, examples
from dyno.safety import plainjson


@click.group(
    "workloads",
    short_help="List and show example workload files for `dyno run`.",
    epilog=examples(
        "dyno workloads list",
        "dyno workloads show ycsb-a > mine.toml     a template",
        "dyno load ycsb-a --target embedded:postgresql --scale 100",
        "dyno run mine.toml --target embedded:postgresql --users 16",
        "dyno workloads show sales-queries          queries, a setup and checks",
    ),
)
def command() -> None:
    """List and show workloads that are files: transactions, or queries for decision support."""


@command.command("list")
@common
def list_workloads(options: Options) -> int:
    """List the shipped files and their purpose."""
    import textwrap

    from dyno.config import presets
    from dyno.workloads import own

    found = {name: presets.purpose(own.EXAMPLES, name) for name in own.examples()}
    if options.as_json:
        listed = [{"name": name, "purpose": text} for name, text in found.items()]
        click.echo(plainjson.dumps(listed))
        return 0
    for name, text in found.items():
        first, *others = textwrap.wrap(text, 54)
        click.echo(f"{name:24}{first}")
        for line in others:
            click.echo(f"{'':24}{line}")
    return 0


@command.command("show")
@click.argument("name")
@common
def show(name: str, options: Options) -> int:
    """Print the TOML of the shipped file NAME, or of your own valid file."""
    from dyno.config import presets
    from dyno.workloads import own
    from dyno.workloads.own import spec

    stem, source, content = presets.find(own.EXAMPLES, "workload", name)
    folder = own.EXAMPLES if source == "preset" else Path(source).parent
    found = spec.read(content, f"The workload {name}", stem, folder)
    if options.as_json:
        click.echo(found.model_dump_json(indent=1, exclude_unset=True))
        return 0
    click.echo(content, nl=False)
    return 0
