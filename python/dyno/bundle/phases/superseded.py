"""A first attempt that was repeated (``dyno.bundle.superseded``)."""

from __future__ import annotations

from typing import Any

from dyno.bundle.detail import Detail


class SupersededDetail(Detail):
    """The attempt.

    Attributes:
        why: The disturbance.
        kind: Original kind of the phase.
        first: Its stored detail. The extra nesting level keeps it separate from the repeat.
    """

    why: str | None = None
    kind: str | None = None
    first: dict[str, Any] | None = None


DETAIL = SupersededDetail
