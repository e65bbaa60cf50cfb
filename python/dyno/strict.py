"""TOML that people write, read strictly: one line on the first thing that is wrong."""

from __future__ import annotations

import tomllib
import types
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from dyno import safefiles
from dyno.errors import UsageError, nearest
from dyno.model import Model

M = TypeVar("M", bound="Strict")

LONGEST = 4 << 20
"""Bytes of such a file."""


class Strict(Model):
    """A part of such a file: no key beyond the known, no value turned into another kind."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def text_of(path: Path, what: str) -> str:
    """The text of a file that a person names; it may be a link to one.

    Args:
        path: The file.
        what: It in messages: ``the layout mine.toml``.

    Raises:
        UsageError: If it is no regular file of UTF-8 text, or too long.
    """
    try:
        return safefiles.read_text(path.resolve(), LONGEST)
    except (OSError, UnicodeError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"Cannot read {what}: {reason}.") from error


def table(content: str, what: str) -> dict[str, Any]:
    """TOML as a table; ``what`` names the file in messages.

    Raises:
        UsageError: If it is not TOML.
    """
    try:
        return tomllib.loads(content)
    except RecursionError as error:
        raise UsageError(f"{what} cannot be read: it is nested too deep.") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{what} is not TOML: {error}.") from error


def parse(model: type[M], what: str, content: str) -> M:
    """Reads TOML as ``model``; ``what`` names the file in messages: ``Layout mine.toml``.

    Raises:
        UsageError: One line on the first thing that is wrong.
    """
    try:
        return _validated(model, what, content)
    except RecursionError as error:
        raise UsageError(f"{what} cannot be read: it is nested too deep.") from error


def _validated(model: type[M], what: str, content: str) -> M:
    try:
        return model.model_validate(table(content, what))
    except ValidationError as error:
        raise UsageError(f"{what}: {_explain(model, error)}") from error


def _explain(model: type[Strict], error: ValidationError) -> str:
    """The first fault; unknown keys first, since they explain keys that are missing."""
    faults = sorted(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")
    fault = faults[0]
    place = fault["loc"]
    if fault["type"] == "extra_forbidden":
        known = _part(model, place[:-1]).model_fields
        return f"unknown key '{_path(place)}'. {nearest(str(place[-1]), known)}"
    if fault["type"] == "missing":
        return f"{_path(place)} is missing."
    if fault["type"] == "literal_error":
        wanted = fault["ctx"]["expected"] if "ctx" in fault else ""
        return f"{_path(place)} is {fault['input']!r}; it must be {wanted}."
    message = fault["msg"].removeprefix("Value error, ")
    return f"{_path(place)} is {fault['input']!r}; {message[:1].lower()}{message[1:]}."


def _part(model: type[BaseModel], place: Sequence[str | int]) -> type[BaseModel]:
    """The model at a place: fields by name, lists by number, tables by their keys."""
    kind: Any = model
    for step in place:
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            kind = kind.model_fields[str(step)].annotation
        else:  # list[X] and dict[str, X]
            kind = typing.get_args(kind)[-1]
        if isinstance(kind, types.UnionType):  # X | None
            kind = next(part for part in typing.get_args(kind) if part is not types.NoneType)
    return kind


def _path(place: Sequence[str | int]) -> str:
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
