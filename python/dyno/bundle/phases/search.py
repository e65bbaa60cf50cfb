"""The search for the maximum load within limits. Its windows are load levels."""

from __future__ import annotations

from dyno.bundle.detail import Detail, Int, Many, Number, Part


class Limit(Part):
    """A limit of the search.

    Attributes:
        text: Its normal form.
        source: Its origin.
    """

    text: str | None = None
    source: str | None = None


class Window(Part):
    """A window of the search.

    Attributes:
        level: Its load level.
        load: Users, or transactions per second.
        step: Reason for the window: ``grow``, ``shrink``, ``narrow``, ``repeat`` or ``confirm``.
        passed: Whether it met the limits.
        steady: Whether its throughput was steady.
        client_bound: Whether the driver was the bottleneck.
        words: Its result, for display.
        refused: Whether the server rejected further sessions.
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
        by: Unit of the load: ``users`` or ``rate``.
        slo: The limits.
        start: The first load.
        most: The maximum allowed load.
        resolution: The gap at which the search ends, as a share of the load.
        sessions: Users of an open loop.
        databases: Number of concurrent databases; users are then per database.
        time_limit_s: Time limit.
        windows: The windows, in order.
        best: The largest load that met the limits; None if there is none.
        failing: The smallest larger load that broke them.
        confirmed: Whether a second window at ``best`` also met them.
        unsettled: Whether ``failing`` broke no limit in a steady window.
        monotone: Whether no load above ``failing`` met the limits.
        stopped: Why it ended: ``resolution``, ``most``, ``least``, ``time`` or ``broken-off``.
        counted: Levels of the maximum, or of the failing load if no load passed.
        bounding: The same levels, and those of ``failing``.
        refused: Levels for which the server rejected further sessions.
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
