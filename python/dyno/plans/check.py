"""A check of what is loaded."""

from __future__ import annotations

from typing import Annotated, ClassVar

from dyno.plans.fields import Plan, within
from dyno.plans.levels import DATABASES


class CheckPlan(Plan):
    """What ``dyno check`` is asked for.

    Attributes:
        target: URL of the database, or ``embedded:NAME``.
        scale: The scale that should be loaded.
        answers: Whether all queries are asked, too.
        isolation: Whether the isolation scenarios are played, at ``level``.
    """

    verb: ClassVar[str] = "check"
    arguments: ClassVar[tuple[str, ...]] = ("workload",)

    workload: str
    target: str
    scale: float | None = None
    databases: Annotated[int, within(*DATABASES)] = 1
    answers: bool = False
    isolation: bool = False
    level: str | None = None
