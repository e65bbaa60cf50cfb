"""Limits that the levels of a run are judged by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dyno.errors import UsageError
from dyno.plans.fields import Plan, Texts

if TYPE_CHECKING:
    from dyno.contracts.workload import Workload
    from dyno.criteria import Criterion


class Criteria(Plan):
    """Limits that each level must keep.

    Attributes:
        criterion: Limits of the user's own, as ``new_order p95 < 500ms``.
        no_criteria: Without the usual ones.
    """

    criterion: Texts = ()
    no_criteria: bool = False

    def criteria(self, workload: Workload) -> list[Criterion]:
        """The user's criteria, and the defaults on metrics that those do not name.

        Raises:
            UsageError: If one is wrong, or the workload has no transactions.
        """
        from dyno.criteria import defaults, metrics, parse_all

        if workload.kind != "oltp":
            if self.criterion:
                raise UsageError(
                    f"--criterion is about transactions; {workload.name} has queries, and their "
                    "answers are checked."
                )
            return []
        own = parse_all(self.criterion, metrics(workload.operations))
        if self.no_criteria:
            return own
        named = {criterion.metric for criterion in own}
        usual = [one for one in defaults(workload.operations) if one.metric not in named]
        return [*own, *usual]
