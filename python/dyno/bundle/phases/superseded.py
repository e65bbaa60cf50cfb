"""A first attempt that was repeated (``dyno.bundle.superseded``)."""

from __future__ import annotations

from typing import Any

from dyno.bundle.detail import Detail


class SupersededDetail(Detail):
    """The attempt.

    Attributes:
        why: What disturbed it.
        kind: Of the phase.
        first: Its own detail as it was stored. It lies one level down, where nobody takes it for
            the repeat's.
    """

    why: str | None = None
    kind: str | None = None
    first: dict[str, Any] | None = None


DETAIL = SupersededDetail
