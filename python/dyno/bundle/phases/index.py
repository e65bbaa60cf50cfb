"""Creates keys, indexes and statistics after a load."""

from __future__ import annotations

from dyno.bundle.detail import Detail, Many, Number
from dyno.bundle.phases.load import Step


class IndexDetail(Detail):
    """The created objects.

    Attributes:
        space: The steps, with time and space.
        notes: Deviations of the target from the layout.
        steps: Seconds by step, and ``total``.
        log_bytes: Bytes that the server wrote to its log meanwhile, for all sessions.
    """

    space: Many[Step] = ()
    notes: Many[str] = ()
    steps: dict[str, Number] | None = None
    log_bytes: Number | None = None


DETAIL = IndexDetail
