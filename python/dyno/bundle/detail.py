"""Phase details: the base class of ``phases/``, and the tolerant reader of stored details.

Bundles of others are untrusted, and other versions have other fields. The reader drops unknown
fields and fields of the wrong type. The writer raises an error for them.
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
"""An integer within the range of a counter."""
Number = Int | Annotated[float, Field(allow_inf_nan=False)]
"""A finite number; an integer remains an integer."""
Many = Annotated[tuple[T, ...], Strict(False)]
"""A list in a file."""
Pair = Annotated[tuple[T, T], Strict(False)]
"""A list of two values."""

_ROUNDS = 8
"""Maximum number of repairs of a stored detail. Each repair can reveal further errors."""


class Part(BaseModel):
    """A map in a detail. All fields are optional: None if the run did not get that far.

    Unset fields are not stored, so a file contains only the fields that its writer set.
    """

    # Built on first use: a bundle contains few of all kinds.
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    @model_serializer(mode="wrap")
    def _given(self, stored: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {
            name: value for name, value in stored(self).items() if name in self.model_fields_set
        }


class Detail(Part):
    """The detail of a phase. Each kind of phase is a module in ``phases/`` that defines DETAIL.

    Attributes:
        workload: Workload of the phase, if it has one, without the database number.
        database: Number of the database, if it is one of several and not the first.
    """

    workload: str | None = None
    database: Int | None = None

    @model_serializer(mode="wrap")
    def _known(self, stored: SerializerFunctionWrapHandler) -> dict[str, Any]:
        given = self.model_fields_set
        return {
            name: value
            for name, value in stored(self).items()
            if name in given and value is not None
        }


def interruptible(dump: Callable[[], T]) -> T:
    """Returns the result of ``dump``, which serializes a model with details.

    Raises:
        KeyboardInterrupt: For a Ctrl-C within the serializers above. pydantic converts it to its
            own error, without a cause.
    """
    try:
        return dump()
    except PydanticSerializationError as error:
        if KeyboardInterrupt.__name__ in str(error):
            raise KeyboardInterrupt from error
        raise


def read(model: type[P], stored: object) -> P:
    """Reads a stored map as a model and drops unknown fields and fields of the wrong type.

    Raises:
        RecursionError: If it is nested too deeply.
    """
    for _ in range(_ROUNDS):
        try:
            return model.model_validate(stored)
        except ValidationError as error:
            if not isinstance(stored, dict):
                break
            stored = copy.deepcopy(stored)
            faults = error.errors(include_url=False, include_context=False, include_input=False)
            # Removes list items from the end, so that the indexes remain valid.
            for path in sorted({_place(stored, fault["loc"]) for fault in faults}, reverse=True):
                _remove(stored, path)
    return model()


def _place(stored: Any, path: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Returns the part of ``path`` that exists in ``stored``."""
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
