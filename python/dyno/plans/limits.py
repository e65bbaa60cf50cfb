"""Pass/fail limits for the levels of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dyno.errors import UsageError
from dyno.plans.fields import Plan, Texts

if TYPE_CHECKING:
    from dyno.contracts.workload import Workload
    from dyno.criteria import Criterion


class Criteria(Plan):
    """Limits that each level must pass.

    Attributes:
        criterion: The user's limits, such as ``new_order p95 < 500ms``.
        no_criteria: Skip the default limits.
    """

    criterion: Texts = ()
    no_criteria: bool = False

    def criteria(self, workload: Workload) -> list[Criterion]:
        """The user's criteria, and default limits on the other metrics.

        Raises:
            UsageError: If a criterion is invalid, or the workload has no transactions.
        """
        from dyno.criteria import defaults, metrics, parse_all

        if workload.kind != "oltp":
            if self.criterion:
                raise UsageError(
                    f"--criterion applies to transactions; {workload.called} has queries, and Dyno "
                    "checks their answers."
                )
            return []
        own = parse_all(self.criterion, metrics(workload.operations))
        if self.no_criteria:
            return own
        named = {criterion.metric for criterion in own}
        usual = [one for one in defaults(workload.transactions) if one.metric not in named]
        return [*own, *usual]
