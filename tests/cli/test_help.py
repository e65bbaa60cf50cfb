"""Help of every verb: with examples, and no wider than a terminal of 80 columns."""

from __future__ import annotations

import json
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


NO_RESULT = {"agent"}
"""Verbs that print nothing to read."""


def below(path: tuple[str, ...]) -> click.Command:
    """The command that these words name."""
    command: click.Command = cli
    for name in path:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None
        command = found
    return command


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in commands(cli)
        if not isinstance(below(path), click.Group) and path[-1] not in NO_RESULT
    ],
    ids=" ".join,
)
def test_every_word_has_json(path: tuple[str, ...]) -> None:
    assert any("--json" in parameter.opts for parameter in below(path).params)


@pytest.mark.parametrize("path", [("study", "list"), ("study", "metrics")])
def test_lists_are_json_for_other_programs(path: tuple[str, ...]) -> None:
    done = CliRunner().invoke(cli, [*path, "--json"])
    assert done.exit_code == 0, done.output
    listed = json.loads(done.stdout)
    text = CliRunner().invoke(cli, [*path]).stdout
    assert listed
    assert all(one["name"] in text for one in listed)
