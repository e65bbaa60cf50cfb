"""Strict reader of TOML files that users write: the first fault becomes a one-line error."""

from __future__ import annotations

import types
import typing
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from dyno.bundle.model import Model
from dyno.errors import UsageError, nearest
from dyno.safety import toml

M = TypeVar("M", bound="Strict")


class Strict(Model):
    """A table of such a file: refuses unknown keys and converts no values."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


def parse(model: type[M], what: str, content: str) -> M:
    """Reads TOML as ``model``; ``what`` names the file in messages: ``Layout mine.toml``.

    Raises:
        UsageError: For the first fault, in one line.
    """
    try:
        return _validated(model, what, content)
    except RecursionError as error:
        raise UsageError(f"{what} cannot be read: its nesting is too deep.") from error


def _validated(model: type[M], what: str, content: str) -> M:
    try:
        return model.model_validate(toml.table(content, what))
    except ValidationError as error:
        raise UsageError(f"{what}: {_explain(model, error)}") from error


def _explain(model: type[Strict], error: ValidationError) -> str:
    """Describes the first fault. Unknown keys come first: they explain missing ones."""
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
    """The model at a path: fields by name, list items by index, tables by key."""
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
