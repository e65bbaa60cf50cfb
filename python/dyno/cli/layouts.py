"""``dyno layouts``: lists and shows the shipped physical designs."""

from __future__ import annotations

import click

from dyno.cli._options import Options, common, examples
from dyno.safety import plainjson


@click.group(
    "layouts",
    short_help="List and show physical designs for `dyno load`.",
    epilog=examples(
        "dyno layouts list",
        "dyno layouts show partitioned-8 > mine.toml     a template",
        "dyno load tpch --target embedded:postgresql --scale 1 --layout mine.toml",
    ),
)
def command() -> None:
    """List and show physical designs: partitions, keys, indexes, clustering, columns, volumes."""


@command.command("list")
@common
def list_layouts(options: Options) -> int:
    """List all presets and their purpose."""
    import textwrap

    from dyno import layouts

    found = {name: layouts.purpose(name) for name in layouts.names()}
    if options.as_json:
        listed = [{"name": name, "purpose": text} for name, text in found.items()]
        click.echo(plainjson.dumps(listed))
        return 0
    for name, text in found.items():
        first, *others = textwrap.wrap(text, 64)
        click.echo(f"{name:16}{first}")
        for line in others:
            click.echo(f"{'':16}{line}")
    return 0


@command.command("show")
@click.argument("name")
@common
def show(name: str, options: Options) -> int:
    """Print the TOML of the preset NAME, or of a valid file."""
    from pathlib import Path

    from dyno import layouts
    from dyno.layouts import spec
    from dyno.safety import toml

    _, source, written = spec.read(name)
    if options.as_json:
        click.echo(written.model_dump_json(indent=1, exclude_unset=True))
        return 0
    path = layouts.FOLDER / f"{name}.toml" if source == "preset" else Path(source)
    click.echo(toml.text_of(path, f"the layout {path}"), nl=False)
    return 0
