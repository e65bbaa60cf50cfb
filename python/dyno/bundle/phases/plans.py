"""Records the execution plan of every query."""

from __future__ import annotations

from dyno.bundle.detail import Detail, Number


class PlansDetail(Detail):
    """Options and errors of the execution plans.

    Attributes:
        scale: Scale of the data.
        analysed: Whether each query was executed for its plan.
        errors: Why a query has no plan, by query.
    """

    scale: Number | None = None
    analysed: bool | None = None
    errors: dict[str, str] | None = None


DETAIL = PlansDetail
