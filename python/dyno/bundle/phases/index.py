"""Keys, indexes and statistics are made after a load."""

from __future__ import annotations

from dyno.bundle.detail import Detail, Many, Number
from dyno.bundle.phases.load import Step


class IndexDetail(Detail):
    """What was made.

    Attributes:
        space: The steps, with time and room.
        notes: What the target did otherwise than the layout asks for.
        steps: Seconds by step, and ``total``.
    """

    space: Many[Step] = ()
    notes: Many[str] = ()
    steps: dict[str, Number] | None = None


DETAIL = IndexDetail
