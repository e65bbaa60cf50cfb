"""The search for the most load inside limits, over the levels that are its windows."""

from __future__ import annotations

from dyno.bundle.detail import Detail, Int, Many, Number, Part


class Limit(Part):
    """A limit of the search.

    Attributes:
        text: Its normal form.
        source: Where it comes from.
    """

    text: str | None = None
    source: str | None = None


class Window(Part):
    """A window that was tried.

    Attributes:
        level: The level of load that it is.
        load: Users, or transactions a second.
        step: Why it was tried: ``grow``, ``shrink``, ``narrow``, ``repeat`` or ``confirm``.
        passed: Whether it kept the limits.
        steady: Whether its throughput was steady.
        client_bound: Whether the driver was the bottleneck.
        words: What it came to, for people.
        refused: Whether the server took no more sessions.
    """

    level: str | None = None
    load: Number | None = None
    step: str | None = None
    passed: bool | None = None
    steady: bool | None = None
    client_bound: bool | None = None
    words: str | None = None
    refused: bool | None = None


class SearchDetail(Detail):
    """A search.

    Attributes:
        by: ``users`` or ``rate``, of which loads are numbers.
        slo: The limits.
        start: The first load.
        most: The largest one allowed.
        resolution: The gap to end at, as a share of the load.
        sessions: Users of an open loop.
        databases: How many are driven at once; users are then those of each.
        time_limit_s: When to stop.
        windows: What was tried, in order.
        best: The largest load that kept the limits; None if there is none.
        failing: The smallest beyond it that did not.
        confirmed: Whether a second window at ``best`` kept them, too.
        unsettled: Whether ``failing`` broke no limit in a steady window.
        monotone: Whether no load above ``failing`` kept the limits.
        stopped: Why it ended: ``resolution``, ``most``, ``least``, ``time`` or ``broken-off``.
        counted: Levels of the maximum, or of what failed if there is none.
        bounding: The same, and those of ``failing``.
        refused: Levels for which the server took no more sessions.
    """

    by: str | None = None
    slo: Many[Limit] = ()
    start: Number | None = None
    most: Number | None = None
    resolution: Number | None = None
    sessions: Int | None = None
    databases: Int | None = None
    time_limit_s: Number | None = None
    windows: Many[Window] = ()
    best: Number | None = None
    failing: Number | None = None
    confirmed: bool | None = None
    unsettled: bool | None = None
    monotone: bool | None = None
    stopped: str | None = None
    counted: Many[str] | None = None
    bounding: Many[str] | None = None
    refused: Many[str] = ()


DETAIL = SearchDetail
