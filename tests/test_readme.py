"""The commands of the README are ones that this Dyno takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from dyno.cli import cli

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\.venv/bin/dyno (.+)$", README, re.MULTILINE)


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_parses(line: str) -> None:
    words = shlex.split(line, comments=True)
    command: click.Command = cli
    context = click.Context(cli)
    while isinstance(command, click.Group):
        _, found, words = command.resolve_command(context, words)
        assert found is not None
        command = found
        context = click.Context(command, parent=context)
    command.parse_args(context, words)  # refuses unknown options and wrong values


def test_there_are_commands_and_files() -> None:
    assert len(COMMANDS) >= 20
    for link in re.findall(r"\]\(([\w./-]+)\)", README):
        assert (ROOT / link).exists(), link
