"""Absurd numbers, and options given twice: refused before anything begins, naming the option."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from dyno.cli import cli
from tests.process import dyno

NUMBERS = (click.types.IntParamType, click.types.FloatParamType)
TEXTS = {
    "--ceiling", "--depths", "--duration", "--during-limit", "--fill", "--fill-of", "--rate",
    "--reconnect", "--size", "--step", "--time-limit", "--timeout", "--until-steady", "--users",
    "--warmup",
}  # fmt: skip
"""Options that take a number with its unit, or several."""

TRACE = str(Path(__file__).parent.parent / "accelerate" / "small.iolog")

COMMANDS: dict[str, tuple[str, ...]] = {
    "accelerate simulate": (TRACE,),
    "accelerate apply": (str(Path(__file__).parent), "--flash", "/nonexistent/flash"),
    "advise": ("embedded:duckdb",),
    "agent": (),
    "capture": ("postgresql://h/d", "--from", "pg_stat_statements"),
    "certify run": ("embedded:duckdb",),
    "check": ("tpch", "--target", "embedded:duckdb"),
    "generate": ("tpch", "--to", "files"),
    "io": (".",),
    "load": ("tpch", "--target", "embedded:duckdb"),
    "quickstart": (),
    "replay": (TRACE, "--target", "null:"),
    "run": ("tpcc", "--target", "null:"),
    "runs import": ("last", __file__),
    "study aa": (),
    "study compare": ("--workload", "tpcc", "--b", "run.users=2"),
    "study plan": ("users",),
    "study run": ("users",),
    "watch": (),
}
"""What each verb with such an option needs beside it."""

BESIDE: dict[str, tuple[str, ...]] = {
    "accelerate simulate --flash-ms": ("--origin-ms", "1"),
    "accelerate simulate --origin-ms": ("--flash-ms", "1"),
    "check --databases": ("--scale", "1"),
    "generate --days": ("--scale", "1"),
    "generate --part": ("--scale", "1"),
    "generate --parts": ("--scale", "1"),
    "generate --seed": ("--scale", "1"),
    "io --fill-of": ("--fill", "50"),
    "load --databases": ("--scale", "1"),
    "load --days": ("--scale", "1"),
    "load --seed": ("--scale", "1"),
    "load --spread": ("--scale", "1"),
    "load --streams": ("--scale", "1"),
    "run --during-database": ("--during", "vacuum"),
    "run --during-limit": ("--during", "vacuum"),
    "run --max-rate": ("--find-max", "rate"),
    "run --max-users": ("--find-max", "users"),
    "run --time-limit": ("--find-max", "users"),
}
"""And what an option needs."""

ABSURD = ("1" + "0" * 23, "-1", "", "nan", "inf", "1e400", "0x10", "100000000h")


def numeric(command: click.Command, name: str = "") -> Iterator[tuple[str, click.Option]]:
    """Every option of a command and of those in it that takes a number, with the verb."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            found = command.get_command(context, word)
            assert found is not None
            yield from numeric(found, f"{name} {word}".strip())
        return
    for one in command.params:
        if not isinstance(one, click.Option) or one.is_flag:
            continue
        if isinstance(one.type, NUMBERS) or one.opts[-1] in TEXTS:
            yield name, one


OPTIONS = [(verb, one.opts[-1]) for verb, one in numeric(cli)]


def test_the_options_are_those_of_every_verb() -> None:
    assert {verb for verb, _ in OPTIONS} == set(COMMANDS)
    assert {("run", "--seed"), ("io", "--rate"), ("study aa", "--minutes")} <= set(OPTIONS)
    assert {name for _, name in OPTIONS} >= TEXTS


@pytest.mark.parametrize(("verb", "option"), OPTIONS, ids=lambda value: value)
def test_absurd_numbers_are_refused(tmp_path: Path, verb: str, option: str) -> None:
    out = tmp_path / "out"
    known = COMMANDS[verb] + BESIDE.get(f"{verb} {option}", ())
    for text in ABSURD:
        if (verb, option, text) == ("runs import", "--offset", "-1"):
            continue  # a clock may be behind
        where = () if verb == "agent" else ("--out", out)  # it writes nothing
        done = dyno(*verb.split(), *known, option, text, *where, cwd=tmp_path, timeout=60)
        shown = f"{option} {text!r}: {done}"
        assert done.returncode == 2, shown
        assert "Traceback" not in done.stderr, shown
        assert option.removeprefix("--") in done.stderr, shown
        assert not out.exists(), shown
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "args",
    [
        ("check", "tpcc", "--target", "null:", "--target", "null:?mean_us=5"),
        ("load", "tpcc", "--scale", "1", "--target", "null:", "--target", "null:?mean_us=5"),
        ("run", "tpcc", "--target", "null:", "--seed", "1", "--seed", "2"),
        ("load", "tpch", "--target", "embedded:duckdb", "--scale", "1", "--scale", "2"),
        ("study", "users", "--target", "null:", "--target", "null:"),
        ("quickstart", "--scale", "1", "--scale", "1"),
    ],
    ids=" ".join,
)
def test_an_option_is_given_once(tmp_path: Path, args: tuple[str, ...]) -> None:
    done = dyno(*args, "--out", tmp_path / "out", cwd=tmp_path)
    assert done.returncode == 2, done
    assert f"{args[-2]} was given 2 times" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_options_that_may_be_repeated_still_may(tmp_path: Path) -> None:
    done = dyno("study", "plan", "users", "--with", "run.duration=9s", "--with", "run.warmup=1s")
    assert done.returncode == 0, done
