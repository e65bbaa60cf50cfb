"""Strict reader of TOML files that users write: the first fault becomes a one-line error."""

from __future__ import annotations

import types
import typing
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

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
    every = error.errors()
    # A list of texts or tables has one fault for each kind of item. That of a table tells more.
    known = [fault for fault in every if not _is_of_text(fault)] or every
    fault = min(known, key=lambda fault: fault["type"] != "extra_forbidden")
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


def _is_of_text(fault: ErrorDetails) -> bool:
    return fault["type"] == "string_type" and isinstance(fault["input"], dict)


def _part(model: type[BaseModel], place: Sequence[str | int]) -> type[BaseModel]:
    """The model at a path: fields by name, list items by index, tables by key, unions by member."""
    kind: Any = model
    for step in place:
        kinds = _members(kind)
        named = [one for one in kinds if len(kinds) > 1 and getattr(one, "__name__", "") == step]
        if named:
            kind = named[0]
            continue
        kind = kinds[0]
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            kind = kind.model_fields[str(step)].annotation
        else:  # list[X] and dict[str, X]
            kind = typing.get_args(kind)[-1]
    return _members(kind)[0]


def _members(kind: Any) -> list[Any]:
    """The types of ``X | Y | None``, without None."""
    if not isinstance(kind, types.UnionType):
        return [kind]
    return [one for one in typing.get_args(kind) if one is not types.NoneType]


def _names(model: type) -> set[str]:
    """Names of a class and of all that derive from it."""
    return {model.__name__}.union(*map(_names, model.__subclasses__()))


def _path(place: Sequence[str | int]) -> str:
    """The path as in TOML. The names of types tell members of a union apart, and are no keys."""
    kinds = {"str", "int", "float", *_names(Strict)}
    text = ""
    for part in place:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part not in kinds and not part.startswith(("tuple[", "constrained-", "function-")):
            text += f".{part}" if text else part
    return text
