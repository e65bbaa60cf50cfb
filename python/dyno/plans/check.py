"""A check of loaded data."""

from __future__ import annotations

from typing import Annotated, ClassVar

from dyno.plans.elsewhere import Elsewhere
from dyno.plans.fields import within
from dyno.plans.levels import DATABASES


class CheckPlan(Elsewhere):
    """A plan for ``dyno check``.

    Attributes:
        target: URL of the database, or ``embedded:NAME``.
        scale: The scale that should be loaded.
        answers: Whether to run all queries as well.
        isolation: Whether to run the isolation scenarios, at ``level``.
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
