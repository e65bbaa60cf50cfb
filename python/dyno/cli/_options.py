"""Options that all commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from dyno.plans.fields import DAYS, DEFAULT_OUT, Plan, made
from dyno.plans.levels import DATABASES
from dyno.safety import plainjson

__all__ = [
    "DEFAULT_OUT",
    "Decorator",
    "Options",
    "chosen",
    "common",
    "databases_option",
    "days_option",
    "declared",
    "examples",
    "print_outline",
]

P = TypeVar("P", bound=Plan)

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
"""A decorator that adds options to a command."""


@dataclass(frozen=True)
class Options:
    """The shared options.

    Attributes:
        out: Folder of bundles and private engines, absolute.
        as_json: One JSON document on stdout, prose on stderr.
        quiet: No progress.
        yes: Do not ask before destructive steps.
        live: Serve a live page (``dyno.cli._live``).
    """

    out: Path
    as_json: bool
    quiet: bool
    yes: bool
    live: bool = False


def common(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds ``--out``, ``--json``, ``--quiet`` and ``--yes``, and passes them as ``options``."""

    @click.option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False),
        default=DEFAULT_OUT,
        show_default=True,
        help="Folder for run bundles and private engines.",
    )
    @click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
    @click.option("--quiet", is_flag=True, help="Show results and warnings only, no progress.")
    @click.option("--yes", is_flag=True, help="Do not ask before destructive steps.")
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        kwargs["options"] = Options(
            out=Path(kwargs.pop("out")).expanduser().absolute(),
            as_json=kwargs.pop("as_json"),
            quiet=kwargs.pop("quiet"),
            yes=kwargs.pop("yes"),
            live=kwargs.pop("live", False),
        )
        return function(*args, **kwargs)

    return wrapper


def declared(*options: Decorator) -> Decorator:
    """Adds options, in this order."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def chosen(kind: type[P], options: Options, values: Mapping[str, Any]) -> P:
    """The plan of the current command, from the ``values`` that the user gave.

    Raises:
        UsageError: If a value is invalid.
    """
    source = click.get_current_context().get_parameter_source
    unsaid = (None, ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP)
    given = {name: value for name, value in values.items() if source(name) not in unsaid}
    return made(kind, {**given, "out": options.out})


databases_option = click.option(
    "--databases",
    type=click.IntRange(*DATABASES),
    default=1,
    show_default=True,
    help="Number of databases, each with all tables of WORKLOAD.",
)


days_option = click.option(
    "--days",
    type=click.IntRange(DAYS[0]),
    metavar="N",
    help="Initial trading days of the data, at most 300; for brokerage.  [default: 10]",
)


def print_outline(lines: Iterable[str], options: Options) -> int:
    """Prints what a command would run: lines, or one JSON document."""
    if options.as_json:
        head = {"run": None, "bundle": None, "valid": True, "reasons": []}
        click.echo(plainjson.dumps({**head, "outline": list(lines)}))
    else:
        click.echo("\n".join(lines))
    return 0


def examples(*lines: str) -> str:
    """An epilog with one example per line."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
