"""Options that are read strictly: given once, and numbers that are numbers.

Click takes the last of several values of an option that has but one, and ``nan`` and ``inf`` for
numbers within any range.
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
    """An option that is refused where it is given twice, or is no finite number."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Has the parser keep all that was given."""
        if self.is_flag or self.multiple or self.count or self.nargs != 1:
            super().add_to_parser(parser, ctx)
            return
        names = [*self.opts, *self.secondary_opts]
        parser.add_option(obj=self, opts=names, dest=self.name, action="append", nargs=1)

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> Any:
        """The one value that was given.

        Raises:
            BadOptionUsage: If there are more.
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
        """The value as its type has it.

        Raises:
            BadParameter: If it is not a number, or not a finite one.
        """
        made = super().type_cast_value(ctx, value)
        if isinstance(made, float) and not math.isfinite(made):
            raise click.BadParameter(f"'{value}' is not a finite number.", ctx, self)
        return made


class Checked(click.types.StringParamType):
    """Text that can be read; it stays text. What it says of a wrong one names the option."""

    def __init__(self, read: Callable[[str], object]) -> None:
        """Text that ``read`` takes; it raises UsageError for any other."""
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The text.

        Raises:
            BadParameter: If it cannot be read.
        """
        try:
            self._read(value)
        except UsageError as error:
            self.fail(str(error), param, ctx)
        return value


TIME = Checked(parse_seconds)
TIME_OR_NONE = Checked(lambda text: parse_seconds(text, none=True))
SIZE = Checked(parse_bytes)
MINUTES = click.FloatRange(0, MOST_SECONDS / 60, min_open=True)
SCALE = click.FloatRange(0, min_open=True)
SEED = click.IntRange(0, MOST_SEED)


def strictly(command: click.Command) -> click.Command:
    """The command, all of whose options, and those of its own commands, are read strictly."""
    for parameter in command.params:
        if type(parameter) is click.Option:
            parameter.__class__ = Strictly
    if isinstance(command, click.Group):
        for own in command.commands.values():
            strictly(own)
    return command
