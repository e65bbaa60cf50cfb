"""A bottleneck that was tested by changing its resource."""

from __future__ import annotations

from dyno.bundle.detail import Detail, Many, Number, Part


class Window(Part):
    """A short level of load with the resource changed.

    Attributes:
        factor: The size of the resource, relative to the run.
        tps: Transactions per second.
    """

    factor: Number | None = None
    tps: Number | None = None


class ConfirmDetail(Detail):
    """A test of a bottleneck.

    Attributes:
        of: The phase with the bottleneck.
        resource: The bottleneck, as in the report.
        changed: The limits that were changed, by name with their size in the run.
        devices: The block devices on which limits on I/O were changed.
        windows: The windows, in order.
        elasticity: Relative change of the throughput by relative change of the resource; None if it
            was not measured.
        low: Lower bound of its interval, 97 %, which makes 95 % for two looks.
        high: Upper bound of it.
        reason: Why the resource could not be changed.
    """

    of: str | None = None
    resource: str | None = None
    changed: dict[str, Number] | None = None
    devices: Many[str] = ()
    windows: Many[Window] = ()
    elasticity: Number | None = None
    low: Number | None = None
    high: Number | None = None
    reason: str | None = None


DETAIL = ConfirmDetail
