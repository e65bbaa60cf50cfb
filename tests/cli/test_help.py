"""Help of every verb: with examples, and no wider than a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from dyno.cli import cli

COLUMNS = 80


def commands(command: click.Command, *path: str) -> Iterator[tuple[str, ...]]:
    """The words of a command, and those of all below it."""
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, *path, name)


def help_of(*path: str) -> str:
    done = CliRunner().invoke(cli, [*path, "--help"], terminal_width=COLUMNS)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("path", [*commands(cli)], ids=lambda path: " ".join(path) or "dyno")
def test_no_line_is_wider_than_the_terminal(path: tuple[str, ...]) -> None:
    lines = help_of(*path).splitlines()
    assert [line for line in lines if len(line) > COLUMNS] == []


@pytest.mark.parametrize("verb", cli.list_commands(click.Context(cli)))
def test_every_verb_has_examples(verb: str) -> None:
    _, _, examples = help_of(verb).partition("Examples:")
    assert f"dyno {verb}" in examples
