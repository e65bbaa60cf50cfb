"""Targets that show the statements of a load before it begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol, runtime_checkable

from dyno.contracts.layout import Layout


@runtime_checkable
class Scripted(Protocol):
    """A server at a URL that shows what a load would send to it.

    Attributes:
        BATCH_END: The line that ends each statement in a script of the product's own tool.
    """

    BATCH_END: ClassVar[str]

    def script(self, workload: str, layout: Layout | None, *, replace: bool) -> Sequence[str]:
        """The statements of a load in its order, without the rows. Connects; changes nothing.

        A text that begins with ``--`` is a comment.

        Raises:
            UsageError: If this server does not support the layout, or the tables exist and
                ``replace`` is false, or Dyno did not create them.
            TargetError: If it cannot be used, or the account lacks a right.
        """
        ...
