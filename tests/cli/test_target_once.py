"""A verb of one target refuses a second ``--target``, which would silently win otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from dyno.cli import cli


def verbs(command: click.Command = cli, *words: str) -> Iterator[tuple[str, ...]]:
    """Every command that takes ``--target`` once."""
    for option in command.params:
        if "--target" in option.opts and not option.multiple:
            yield words
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            own = command.get_command(click.Context(command), name)
            assert own is not None
            yield from verbs(own, *words, name)


VERBS = list(verbs())


def test_verbs_are_found() -> None:
    assert {("load",), ("check",), ("study", "run")} <= set(VERBS)


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_second_target_is_refused(tmp_path: Path, verb: tuple[str, ...]) -> None:
    out = tmp_path / "out"
    two = ("--target", "null:", "--target", "null:?mean_us=5")
    done = CliRunner().invoke(cli, [*verb, *two, "--out", str(out)], standalone_mode=False)
    assert isinstance(done.exception, click.UsageError), done
    assert done.exception.exit_code == 2
    assert "--target was given 2 times" in str(done.exception)
    assert not out.exists()
