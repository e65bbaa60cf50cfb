"""Strict options: no repeated values, no ``nan`` or ``inf``.

Click silently takes the last value of a repeated option, and accepts ``nan`` and ``inf`` in any
range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import click

from dyno.config.units import MOST_SECONDS, parse_bytes, parse_seconds
from dyno.errors import UsageError
from dyno.plans.fields import MOST_SEED


class Strictly(click.Option):
    """An option that refuses repeated values and non-finite numbers."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Makes the parser keep all values."""
        if self.is_flag or self.multiple or self.count or self.nargs != 1:
            super().add_to_parser(parser, ctx)
            return
        names = [*self.opts, *self.secondary_opts]
        parser.add_option(obj=self, opts=names, dest=self.name, action="append", nargs=1)

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> Any:
        """The single value.

        Raises:
            BadOptionUsage: If the option was given more than once.
        """
        given = opts.get(self.name or "")
        if isinstance(given, list) and not self.multiple:
            if len(given) > 1:
                name = self.opts[-1]
                raise click.BadOptionUsage(
                    name, f"{name} was given {len(given)} times; give it once.", ctx
                )
            opts = {**opts, str(self.name): given[0]}
        return super().consume_value(ctx, opts)

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """The converted value.

        Raises:
            BadParameter: If it is not a finite number.
        """
        made = super().type_cast_value(ctx, value)
        if isinstance(made, float) and not math.isfinite(made):
            raise click.BadParameter(f"'{value}' is not a finite number.", ctx, self)
        return made


class Checked(click.types.StringParamType):
    """Text with a checked format. Errors name the option."""

    def __init__(self, name: str, read: Callable[[str], object]) -> None:
        """``read`` raises UsageError for text of another format; ``name`` is for the help."""
        self.name = name
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The text, unchanged.

        Raises:
            BadParameter: If its format is wrong.
        """
        try:
            self._read(value)
        except UsageError as error:
            self.fail(str(error), param, ctx)
        return value


class ByWorkload(click.ParamType[Any]):
    """A value, or ``WORKLOAD=VALUE`` in a run of several workloads."""

    def __init__(self, inner: click.ParamType[Any]) -> None:
        """``inner`` is the type of the value."""
        self.inner = inner
        self.name = inner.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value; the text, if it is for one workload.

        Raises:
            BadParameter: If the value is wrong.
        """
        word, equals, rest = str(value).partition("=")
        made = self.inner.convert(rest if equals else value, param, ctx)
        if isinstance(made, float) and not math.isfinite(made):
            self.fail(f"'{value}' is not a finite number.", param, ctx)
        if equals and not word:
            self.fail(f"'{value}' names no workload before the equals sign.", param, ctx)
        return value if equals else made


TIME = Checked("time", parse_seconds)
TIME_OR_NONE = Checked("time", lambda text: parse_seconds(text, none=True))
SIZE = Checked("size", parse_bytes)
MINUTES = click.FloatRange(0, MOST_SECONDS / 60, min_open=True)
SCALE = click.FloatRange(0, min_open=True)
SEED = click.IntRange(0, MOST_SEED)


def strictly(command: click.Command) -> click.Command:
    """Makes all options of a command and its subcommands strict; returns the command."""
    for parameter in command.params:
        if type(parameter) is click.Option:
            parameter.__class__ = Strictly
    if isinstance(command, click.Group):
        for own in command.commands.values():
            strictly(own)
    return command
