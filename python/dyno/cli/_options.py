"""Options that every verb shares."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click

from dyno.config.units import parse_bytes, parse_seconds
from dyno.contracts import databases

__all__ = [
    "DEFAULT_OUT",
    "Decorator",
    "Options",
    "collected",
    "common",
    "databases_option",
    "examples",
    "parse_bytes",
    "parse_seconds",
]

DEFAULT_OUT = Path("dyno-runs")

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
"""What adds options to a command."""


@dataclass(frozen=True)
class Options:
    """What every verb can be told.

    Attributes:
        out: Folder of bundles and private engines, absolute.
        as_json: One JSON document on stdout, prose on stderr.
        quiet: No progress.
        yes: Do not ask before destructive steps.
        rehearsed: Only look whether the command could be done; see ``dyno.cli._rehearsal``.
    """

    out: Path
    as_json: bool
    quiet: bool
    yes: bool
    rehearsed: bool = False


REHEARSED = "dyno.rehearsed"
"""Of a context: its command is to be checked only."""


def common(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds ``--out``, ``--json``, ``--quiet`` and ``--yes``, and passes them as ``options``."""

    @click.option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False),
        default=DEFAULT_OUT,
        show_default=True,
        help="Folder for bundles and private engines.",
    )
    @click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
    @click.option("--quiet", is_flag=True, help="No progress, only results and warnings.")
    @click.option("--yes", is_flag=True, help="Do not ask before destructive steps.")
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        kwargs["options"] = Options(
            out=Path(kwargs.pop("out")).expanduser().absolute(),
            as_json=kwargs.pop("as_json"),
            quiet=kwargs.pop("quiet"),
            yes=kwargs.pop("yes"),
            rehearsed=bool(click.get_current_context().meta.get(REHEARSED)),
        )
        return function(*args, **kwargs)

    return wrapper


def collected(kind: type[Any], name: str, *declared: Decorator) -> Decorator:
    """Adds the options, which the dataclass ``kind`` has, and passes them as one of it."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            found = {field.name: kwargs.pop(field.name) for field in fields(kind)}
            kwargs[name] = kind(**found)
            return function(*args, **kwargs)

        decorated: Callable[..., Any] = wrapper
        for option in reversed(declared):
            decorated = option(decorated)
        return decorated

    return decorate


databases_option = click.option(
    "--databases",
    type=click.IntRange(1, databases.MOST),
    default=1,
    show_default=True,
    help="Databases of WORKLOAD, each with all of its tables.",
)


def examples(*lines: str) -> str:
    """An epilog with examples, one a line."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
