"""A recording of a system that Dyno does not load."""

from __future__ import annotations

from dyno.bundle.detail import Detail, Many, Number


class WatchDetail(Detail):
    """A recording.

    Attributes:
        asked_s: Requested duration; None: until it was stopped.
        interval_s: Time between two samples of the machine.
        probes: Sources of the samples of the database.
        stopped: Whether a signal ended it before that time.
        inspect_s: Time between two readings of statements and relations.
    """

    asked_s: Number | None = None
    interval_s: Number | None = None
    probes: Many[str] = ()
    stopped: bool | None = None
    inspect_s: Number | None = None


DETAIL = WatchDetail
