"""Options that cannot be combined: each row of the table is refused, with its reason."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from dyno.cli import cli
from dyno.cli._run import sections
from dyno.errors import UsageError
from dyno.plans.together import EXCLUDED

WORDS = {
    "--rate": ["--rate", "5"],
    "a changing --rate": ["--rate", "5..9"],
    "--think": ["--think"],
    "--during": ["--during", "reindex"],
    "--find-max": ["--find-max"],
    "--find-max rate": ["--find-max", "rate"],
    "--criterion": ["--criterion", "errors = 0"],
    "--confirm-limit": ["--confirm-limit"],
    "--until-steady": ["--until-steady", "90s"],
}
"""How each word of the table is given."""


def run(out: Path, *args: str) -> str:
    """The message on wrong use; nothing is started."""
    done = CliRunner().invoke(cli, ["run", *args, "--out", str(out)])
    assert isinstance(done.exception, UsageError), done.output
    assert not out.exists()
    return str(done.exception)


@pytest.mark.parametrize(("one", "other", "reason"), EXCLUDED)
def test_each_row_is_refused(tmp_path: Path, one: str, other: str, reason: str) -> None:
    message = run(tmp_path / "out", "tpcc", "--target", "null:", *WORDS[one], *WORDS[other])
    assert message == f"{one} and {other} cannot be combined: {reason}."


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("tpcc", "--target", "null:", "--during-database", "2"), "requires --during TASK"),
        (("tpcc", "--target", "null:", "--estimate-only"), "--estimate-only requires --during"),
        (
            ("tpch", "--target", "embedded:duckdb", "--during", "quick-check"),
            "no indexes to leave out",
        ),
        (("tpch", "--target", "embedded:duckdb", "--rate", "5"), "--rate applies to transactions"),
        (("tpcc", "--target", "null:", "--no-query-figures"), "--no-query-figures applies to"),
        (("tpcc", "--target", "null:", "--users", "2", "--users", "2"), "--users once"),
        (
            ("tpcc", "--target", "embedded:postgresql", "--during", "reindex", "--databases", "2",
             "--during-database", "3"),
            "--during-database 3 requires --databases 3",
        ),
        (
            ("tpcc", "--target", "embedded:postgresql", "--during", "backup", "--databases", "2",
             "--during-database", "2"),
            "covers all databases",
        ),
        (
            ("tpcc", "--target", "embedded:mysql", "--during", "vacuum"),
            "It supports integrity-check, reindex, backup, quick-check, sliding-window.",
        ),
        (
            ("tpcc", "--target", "embedded:sqlite", "--databases", "2"),
            "one file, which is one database",
        ),
    ],
)  # fmt: skip
def test_what_is_about_something_else_is_refused(
    tmp_path: Path, args: tuple[str, ...], words: str
) -> None:
    assert words in run(tmp_path / "out", *args)


def test_every_option_of_a_section_is_shown_under_its_heading_once() -> None:
    command = cli.get_command(click.Context(cli), "run")
    assert command is not None
    text = CliRunner().invoke(cli, ["run", "--help"], terminal_width=80).output
    places = (
        sections.TRANSACTIONS, sections.CRITERIA, sections.SEARCH, sections.QUERIES,
        sections.MAINTENANCE,
    )  # fmt: skip
    names = [name for section in places for name in section.names]
    assert len(names) == len(set(names))
    options = {parameter.name: parameter for parameter in command.params}
    for section, following in zip(places, [*places[1:], None], strict=True):
        _, _, rest = text.partition(f"\n{section.title}:\n")
        end = "Examples:" if following is None else f"\n{following.title}:\n"
        own, found, _ = rest.partition(end)
        assert found
        for name in section.names:
            assert f"\n  {options[name].opts[0]} " in f"\n{own}"


def test_maintenance_needs_tables_of_dyno_s(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[transactions.look]\nstatements = ['select id from item where id = 1']\n")
    message = run(tmp_path / "out", str(file), "--target", "embedded:sqlite", "--during", "reindex")
    assert "has no tables of Dyno's, so reindex has nothing" in message
