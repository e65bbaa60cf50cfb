"""What a phase says of itself: the base of ``phases/``, and how a stored detail is read.

Bundles of others are untrusted, and those of other versions have other fields: a reader leaves out
what a model does not know or what is of the wrong type. Who writes gets an error for the same.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Annotated, Any, TypeVar, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    Strict,
    ValidationError,
    model_serializer,
)
from pydantic_core import PydanticSerializationError

T = TypeVar("T")
P = TypeVar("P", bound="Part")

Int = Annotated[int, Field(ge=-(1 << 64), le=1 << 64)]
"""A whole number that some counter holds."""
Number = Int | Annotated[float, Field(allow_inf_nan=False)]
"""A finite number; a whole one stays one."""
Many = Annotated[tuple[T, ...], Strict(False)]
"""A list in a file."""
Pair = Annotated[tuple[T, T], Strict(False)]
"""A list of two."""

_ROUNDS = 8
"""A stored detail is mended so often: each round finds what the one before it had hidden."""


class Part(BaseModel):
    """A map in a detail. All fields are optional: None where the run did not get as far.

    What was not given is not stored, so that a file says no more than its writer did.
    """

    # Built when it is first used: a bundle has few of all kinds.
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    @model_serializer(mode="wrap")
    def _given(self, stored: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {
            name: value for name, value in stored(self).items() if name in self.model_fields_set
        }


class Detail(Part):
    """What a phase says of itself. A kind of phase is a module of ``phases/`` with one as DETAIL.

    Attributes:
        workload: Of the phase, where it has one; a database other than the first is not in it.
        database: Number of the database, where it is one of several and not the first.
    """

    workload: str | None = None
    database: Int | None = None

    @model_serializer(mode="wrap")
    def _known(self, stored: SerializerFunctionWrapHandler) -> dict[str, Any]:
        told = self.model_fields_set
        return {
            name: value
            for name, value in stored(self).items()
            if name in told and value is not None
        }


def interruptible(dump: Callable[[], T]) -> T:
    """What ``dump`` makes of a model with details.

    Raises:
        KeyboardInterrupt: For a Ctrl-C that arrives in the serializers above: pydantic makes an
            error of its own of it, without a cause.
    """
    try:
        return dump()
    except PydanticSerializationError as error:
        if KeyboardInterrupt.__name__ in str(error):
            raise KeyboardInterrupt from error
        raise


def read(model: type[P], stored: object) -> P:
    """A stored map as its model, without what is unknown or of the wrong type.

    Raises:
        RecursionError: If it is nested too deep.
    """
    for _ in range(_ROUNDS):
        try:
            return model.model_validate(stored)
        except ValidationError as error:
            if not isinstance(stored, dict):
                break
            stored = copy.deepcopy(stored)
            faults = error.errors(include_url=False, include_context=False, include_input=False)
            # Items of a list from its end, so that places stay true.
            for path in sorted({_place(stored, fault["loc"]) for fault in faults}, reverse=True):
                _remove(stored, path)
    return model()


def _place(stored: Any, path: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """As much of ``path`` as leads to something that is stored."""
    node: Any = stored
    for depth, key in enumerate(path):
        if not isinstance(node, dict | list):
            return path[:depth]
        try:
            node = node[cast("Any", key)]
        except (KeyError, IndexError, TypeError):
            return path[:depth]
    return path


def _remove(stored: Any, path: tuple[int | str, ...]) -> None:
    if not path:
        return
    node: Any = stored
    for key in path[:-1]:
        node = node[key]
    del node[path[-1]]
