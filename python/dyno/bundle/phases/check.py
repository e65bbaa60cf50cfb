"""Checks of data, answers or isolation. ``checks.json`` holds the results."""

from __future__ import annotations

from dyno.bundle.detail import Detail, Number


class CheckDetail(Detail):
    """A verification.

    Attributes:
        scale: Scale of the data, if queries ran only for their answers.
        errors: Why a query has no answer, by query.
        level: Verified isolation level; None for the default of the target.
        default: Default isolation level of the target.
    """

    scale: Number | None = None
    errors: dict[str, str] | None = None
    level: str | None = None
    default: str | None = None


DETAIL = CheckDetail
