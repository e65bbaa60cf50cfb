"""Puts a read cache on flash in front of an engine's files."""

from __future__ import annotations

from dyno.bundle.detail import Detail, Int


class AccelerateDetail(Detail):
    """The cache at the start of the run.

    Attributes:
        size_bytes: Its size.
        start: ``kept`` (what an earlier run left), ``empty`` or ``prewarmed``.
        prewarmed_bytes: What was added before the run.
    """

    size_bytes: Int | None = None
    start: str | None = None
    prewarmed_bytes: Int | None = None


DETAIL = AccelerateDetail
