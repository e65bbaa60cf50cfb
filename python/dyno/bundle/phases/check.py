"""Proofs about data, answers or isolation; what they found is in ``checks.json``."""

from __future__ import annotations

from dyno.bundle.detail import Detail, Number


class CheckDetail(Detail):
    """What was proven.

    Attributes:
        scale: Of the data, where queries were only asked for their answers.
        errors: Why a query has no answer, by query.
        level: Of isolation, at which it was proven; None for the target's default.
        default: The target's default.
    """

    scale: Number | None = None
    errors: dict[str, str] | None = None
    level: str | None = None
    default: str | None = None


DETAIL = CheckDetail
