"""Fields of plans: types of user input, and one-line errors."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from dyno.bundle.model import Model
from dyno.config.units import parse_bytes, parse_seconds
from dyno.errors import UsageError, nearest
from dyno.safety.redaction import redact

DEFAULT_OUT = Path("dyno-runs")
MOST_SEED = 10**18
"""Seeds are 64-bit integers; the runs of a study add to theirs."""

DAYS = (1, 10_000)
"""Initial days of any data with a history; a workload has its own maximum."""

P = TypeVar("P", bound="Plan")

Folder = Annotated[Path, AfterValidator(lambda path: path.expanduser().absolute())]


class Plan(Model):
    """Options of a command, under the names of the command line.

    ``model_fields_set`` has the options that were given; the rest have defaults.

    Attributes:
        out: Folder of bundles and private engines, absolute.
    """

    verb: ClassVar[str]
    options: ClassVar[dict[str, str]] = {
        "settings": "--set",
        "settings_file": "--settings",
        "limits": "--limit",
    }
    """Options whose name differs from the field."""
    arguments: ClassVar[tuple[str, ...]] = ()
    """Positional arguments."""
    negated: ClassVar[frozenset[str]] = frozenset()
    """Flags with a ``--no-…`` form."""

    out: Folder = Field(DEFAULT_OUT, validate_default=True)

    @classmethod
    def option(cls, name: str) -> str:
        """The option of a field."""
        return cls.options.get(name, f"--{name.replace('_', '-')}")

    @classmethod
    def option_words(cls) -> set[str]:
        """The names of all options, without leading dashes."""
        names = [name for name in cls.model_fields if name not in cls.arguments]
        negated = [f"no-{cls.option(name)[2:]}" for name in names if name in cls.negated]
        return {*(cls.option(name)[2:] for name in names), *negated}

    def given(self, name: str) -> bool:
        """Whether a field was given, even with its default value."""
        if name not in self.model_fields_set:
            return False
        value = getattr(self, name)
        return value not in (None, ()) and (value is not False or name in self.negated)

    def words(self) -> list[str]:
        """The equivalent command line as a list of words; ``--out`` comes last."""
        found = [self.verb]
        for name in self.arguments:
            value = getattr(self, name)
            found += value if isinstance(value, tuple) else [_word(value)]
        fields = type(self).model_fields
        own = [name for name in type(self).__annotations__ if name in fields]
        for name in dict.fromkeys([*own, *fields]):  # fields of no section come first
            if self.given(name) and name not in (*self.arguments, "out"):
                found += self._option_words(name, getattr(self, name))
        return [*found, *(["--out", str(self.out)] if "out" in self.model_fields_set else [])]

    @property
    def command(self) -> str:
        """The equivalent command line, without passwords."""
        return shlex.join(["dyno", *map(redact, self.words())])

    def _option_words(self, name: str, value: Any) -> list[str]:
        option = self.option(name)
        if value is True:
            return [option]
        if value is False:
            return [f"--no-{option[2:]}"]
        several = value if isinstance(value, tuple) else (value,)  # pyright: ignore[reportUnknownVariableType]
        return [word for one in several for word in (option, _word(one))]


def made(kind: type[P], values: Mapping[str, Any]) -> P:
    """Builds a plan from values.

    Raises:
        UsageError: For the first invalid value, in one line that names its option.
    """
    try:
        return kind.model_validate(dict(values))
    except ValidationError as error:
        raise UsageError(_explain(kind, error)) from error


def _explain(kind: type[Plan], error: ValidationError) -> str:
    """Describes the first fault. Unknown names come first: they explain missing ones."""
    faults = sorted(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")
    fault = faults[0]
    name = str(fault["loc"][0])
    if fault["type"] == "extra_forbidden":
        known = sorted(kind.model_fields)
        return f"{kind.verb} has no option '{name}'. {nearest(name, known)}"
    if fault["type"] == "missing":
        return f"{name} is missing."
    reason = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "literal_error":
        words = fault.get("ctx", {}).get("expected", "").replace(" or ", ", ")
        reason = f"{fault['input']!r} is not one of {words}"
    place = name.upper() if name in kind.arguments else kind.option(name)
    return f"Invalid value for '{place}': {reason.rstrip('.')}."


def _word(value: object) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _text(value: Any) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return _word(value) if is_number else value


def _time(text: str) -> str:
    try:
        parse_seconds(text)
    except UsageError as error:
        raise ValueError(str(error)) from None
    return text


def _time_or_none(text: str) -> str:
    return text if _is_zero(text) else _time(text)


def _is_zero(text: str) -> bool:
    try:
        return parse_seconds(text, none=True) == 0
    except UsageError:
        return False


def _size(text: str) -> str:
    try:
        parse_bytes(text)
    except UsageError as error:
        raise ValueError(str(error)) from None
    return text


def _several(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else (value,)


def _settings(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tuple(f"{word}={_text(each)}" for word, each in value.items())  # pyright: ignore[reportUnknownVariableType]
    return _several(value)


def within(least: float, most: float, *, above: bool = False) -> WrapValidator:
    """A range of valid numbers; ``above`` excludes its lower end."""

    def check(value: Any, number: ValidatorFunctionWrapHandler) -> Any:
        if isinstance(value, bool):
            raise ValueError(f"{value} is not a number.")
        found = number(value)
        if not math.isfinite(found):
            raise ValueError(f"'{value}' is not a finite number.")
        if found > most or found < least or (above and found == least):
            sign = "<" if above else "<="
            raise ValueError(f"{found:.15g} is not in the range {least:.15g}{sign}x<={most:.15g}.")
        return found

    return WrapValidator(check)


Text = Annotated[str, BeforeValidator(_text)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_several)]
Words = Annotated[tuple[str, ...], BeforeValidator(_settings)]
"""``name=value`` each; a mapping is also valid."""
Time = Annotated[str, BeforeValidator(_text), AfterValidator(_time)]
TimeOrNone = Annotated[str, BeforeValidator(_text), AfterValidator(_time_or_none)]
Size = Annotated[str, BeforeValidator(_text), AfterValidator(_size)]
Several = BeforeValidator(_several)
"""Accepts a single value in place of a list."""
