"""Several workloads or targets under load at once."""

from __future__ import annotations

from dyno.bundle.detail import Detail, Int, Many, Number, Part


class Member(Part):
    """One workload on one target.

    Attributes:
        name: Its name in the run.
        workload: The workload.
        target: The target, as it is named in the run.
        phase: The phase that recorded it.
        level: Its level, if it has transactions.
        users: Concurrent users or query streams.
        error: Why it ended early.
    """

    name: str | None = None
    workload: str | None = None
    target: str | None = None
    phase: str | None = None
    level: str | None = None
    users: Int | None = None
    error: str | None = None


class MixDetail(Detail):
    """A window in which the members run at the same time, with a common start.

    Attributes:
        name: Its name in the run.
        alone: The only member, if the window measures it by itself.
        round: Number of the repetition, from 1.
        members: The members.
        warmup_s: Time under load before the measured time; None for query tests to completion.
        duration_s: Measured time.
    """

    name: str | None = None
    alone: str | None = None
    round: Int | None = None
    members: Many[Member] = ()
    warmup_s: Number | None = None
    duration_s: Number | None = None


DETAIL = MixDetail
