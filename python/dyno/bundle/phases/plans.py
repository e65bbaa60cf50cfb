"""The plan of every query is kept."""

from __future__ import annotations

from dyno.bundle.detail import Detail, Number


class PlansDetail(Detail):
    """Which plans.

    Attributes:
        scale: Of the data.
        analysed: Whether each query was run for its plan.
        errors: Why a query has none, by query.
    """

    scale: Number | None = None
    analysed: bool | None = None
    errors: dict[str, str] | None = None


DETAIL = PlansDetail
